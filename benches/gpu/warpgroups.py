"""The products on warpgroups beside cuBLAS: their error against float64, and their time.

    benches/gpu/build && python3 benches/gpu/warpgroups.py
"""

import re

import torch
from cuda.bindings import driver

from harness import Module, View, allow_shared, check, compare, gelu_after, median_us, up

torch.backends.cuda.matmul.allow_tf32 = True
module = Module("warpgroups")
PROCESSORS = 132
# Columns of the tile and 64 rows of it to slots of the ring, and whether the block stays and takes tile after tile.
STAGES = {(2, 256): (4, True), (2, 192): (5, True), (2, 128): (6, True), (1, 192): (3, False)}
maps = []


def tensor_map(tensor):
    """The address of a tensor map of a matrix in boxes of 64 rows by 128 bytes."""
    types, size = driver.CUtensorMapDataType, tensor.element_size()
    kind = types.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 if size == 2 else types.CU_TENSOR_MAP_DATA_TYPE_FLOAT32
    rows, columns = tensor.shape
    u64, u32 = driver.cuuint64_t, driver.cuuint32_t
    made = check(driver.cuTensorMapEncodeTiled(
        kind, 3, tensor.data_ptr(), [u64(columns), u64(rows), u64(1)], [u64(columns * size), u64(rows * columns * size)],
        [u32(128 // size), u32(64), u32(1)], [u32(1)] * 3,
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE, driver.CUtensorMapSwizzle.CU_TENSOR_MAP_SWIZZLE_128B,
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    words = [int(word) for word in made.opaque]
    maps.append(torch.tensor([w - (1 << 64) if w >> 63 else w for w in words], dtype=torch.int64, device="cuda"))
    return maps[-1].data_ptr()


def transpose(b):
    """A matrix of f32 as N x K, by the kernel for it, and what that takes."""
    k, n = b.shape
    t = torch.full((n, k), float("nan"), device="cuda")
    views = [View(b, [1, k, n], [k * n, n, 1]), View(t, [1, n, k], [n * k, k, 1])]
    run = lambda: module.launch("transpose_tf32", up(n, 64) * up(k, 32), 256, views)
    run()
    return t, run


def measure(kernel, m, k, n, plain=False):
    single, along_k = "tf32" in kernel, kernel.endswith("_nt")
    gelu = "epilogue" in kernel
    rows, columns = map(int, re.search(r"_(\d+)x(\d+)", kernel).groups())
    stages, stays = STAGES[rows // 64, columns]
    dtype = torch.float32 if single else torch.bfloat16
    a = torch.randn(m, k, device="cuda", dtype=dtype)
    b = torch.randn((n, k) if along_k and not plain else (k, n), device="cuda", dtype=dtype)
    b_read = b.t() if along_k and not plain else b
    bias = torch.randn(n, device="cuda")
    c = torch.full((m, n), float("nan"), device="cuda", dtype=dtype)
    exact = a.double() @ b_read.double()
    if gelu:
        exact = gelu_after(exact, bias)
    function = check(driver.cuModuleGetFunction(module.module, kernel.encode()))
    shared = stages * (rows + columns) * 128 + 1024
    allow_shared(function, shared)
    tiles, x = up(m, rows) * up(n, columns), View(bias if gelu else a, [1, m, n], [0, 0, 1])
    b_seen, turn = transpose(b) if plain else (b, lambda: None)
    arguments = [tensor_map(a), tensor_map(b_seen), View(c, [1, m, 1, n], [m * n, n, 0, 1]), x, x, 1, m, n, k, 1, up(k, 64) * 64]
    threads = rows * 2 + (128 if rows == 128 and columns >= 192 else 32)
    grid = min(tiles, PROCESSORS) if stays else tiles

    def run():
        turn()
        module.launch(kernel, grid, threads, arguments, shared)

    def theirs():
        torch.matmul(a, b_read, out=c)
        if gelu:
            gelu_after(c, bias)

    label = f"{m}x{k}x{n} {kernel}" + (f" K x N, transposing {median_us(turn):.2f} us" if plain else "")
    compare(label, run, theirs, c, exact, 2 * m * n * k, 2e-3 if single else 8e-3)


for kernel in sorted(set(re.findall(r"\.entry (matmul_wgmma_[a-z_0-9]*)", module.text))):
    # The row stride of what is stored is part of a kernel.
    n = 3072 if "x192" in kernel else 4096
    for size in ((136, 72, n), (1024, 768, 3072) if n == 3072 else (4096, 4096, 4096)):
        measure(kernel, *size)
measure("matmul_wgmma_tf32_128x192_nt", 1024, 768, 3072, plain=True)
