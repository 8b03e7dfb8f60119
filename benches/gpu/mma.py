"""The products of bf16 on tensor cores by mma.sync beside cuBLAS: their error against float64, and their time.

    benches/gpu/build && python3 benches/gpu/mma.py
"""

import re

import torch
from cuda.bindings import driver

from harness import Module, View, allow_shared, check, compare, gelu_after, up

module = Module("mma")
# Rows and columns of a tile on sm_90 to elements of a slice, slots of the ring and threads.
TILES = {(128, 256): (64, 3, 256), (128, 192): (64, 3, 256), (128, 128): (64, 3, 128), (64, 128): (64, 3, 128), (64, 64): (64, 4, 128)}


def measure(kernel, m, k, n):
    along_k, gelu = "_nt" in kernel, "_epilogue" in kernel
    rows, columns = map(int, re.search(r"_(\d+)x(\d+)", kernel).groups())
    depth, stages, threads = TILES[rows, columns]
    dtype = torch.bfloat16
    # Rows of A and B begin where they do in what the kernel was made for.
    pitch = 768 if n == 3072 else 4096
    a = torch.randn(m, pitch, device="cuda", dtype=dtype)[:, :k]
    b = torch.randn(n, pitch, device="cuda", dtype=dtype)[:, :k] if along_k else torch.randn(k, n, device="cuda", dtype=dtype)
    b_read = b.t() if along_k else b
    bias = torch.randn(n, device="cuda")
    c = torch.full((m, n), float("nan"), device="cuda", dtype=dtype)
    exact = a.double() @ b_read.double()
    if gelu:
        exact = gelu_after(exact, bias)
    function = check(driver.cuModuleGetFunction(module.module, kernel.encode()))
    shared = stages * (rows + columns) * depth * 2
    allow_shared(function, shared)
    grid, x = up(m, rows) * up(n, columns), View(bias if gelu else a, [1, m, n], [0, 0, 1])
    views = [View(v, [1, *v.shape], [0, v.stride(0), 1]) for v in (a, b)]
    arguments = [*views, View(c, [1, m, 1, n], [m * n, n, 0, 1]), x, x, 1, up(k, 64) * 64]
    run = lambda: module.launch(kernel, grid, threads, arguments, shared)

    def theirs():
        torch.matmul(a, b_read, out=c)
        if gelu:
            gelu_after(c, bias)

    compare(f"{m}x{k}x{n} {kernel}", run, theirs, c, exact, 2 * m * n * k, 8e-3)


# The row strides are part of a kernel: 4096 for tiles of 256 columns, 3072 for those of 192.
for kernel in sorted(set(re.findall(r"\.entry (matmul_mma_[a-z_0-9]*)", module.text))):
    n = 3072 if "x192" in kernel else 4096
    for size in ((136, 72, n), (1024, 768, 3072) if n == 3072 else (4096, 4096, 4096)):
        measure(kernel, *size)
