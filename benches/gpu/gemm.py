"""The fp32 product kernels beside cuBLAS (through torch, tf32 off): right against float64, then timed.

    benches/gpu/build && python3 benches/gpu/gemm.py

Weights are rotated through more memory than the L2 cache holds where a product is bound by reading them. For K split in
s parts the time includes the sum of the parts, by torch: the compiler's own is made for one size. "same" says that two runs agree in every bit, "chosen" which kernel and
parts the compiler takes for the size, where several are tried; "of 192" that only the last 192 rows are in parts.
"""

import os

import torch

from choices import SHAPES, label as name_of

from harness import OUT, Module, View, median_us, up

torch.backends.cuda.matmul.allow_tf32 = False
module = Module("products")


def rows(t, batch=1):
    """A contiguous matrix as a batch of one."""
    return View(t, [1, *t.shape], [t.numel(), t.shape[1], 1])


def grouped(t):
    return View(t, [1, t.shape[0], 1, t.shape[1]], [t.numel(), t.shape[1], 0, 1])


def chosen():
    """The compiler's kernel, parts and rows in parts (0: all) by the size's name."""
    with open(os.path.join(OUT, "choices.txt")) as file:
        return {name: (kernel, int(parts), int(tail)) for name, kernel, parts, tail in map(str.split, file)}


CHOSEN = chosen()


def tiled(a, b, c, tile, splits, tail, along_k, slabs):
    m, k = a.shape
    n = b.shape[0] if along_k else b.shape[1]
    tiles = up(m, tile) * up(n, 128)
    chunk = up(up(k, splits), 16) * 16
    kernel = f"matmul_tiled_{tile}x128_{'nt_' if along_k else ''}f32"
    x = View(a, [1, m, n], [0, 0, 1])
    view = rows if along_k else grouped
    # Parts of the last rows alone; what B along K does not have.
    last = [] if along_k else [View(slabs, [splits, tail or m, n], [(tail or m) * n, n, 1]), up(tail, tile)]
    if splits == 1:
        module.launch(kernel, tiles, 128, [rows(a), rows(b), view(c), x, x, 1, chunk, *last])
        return
    if tail:
        blocks = tiles + (splits - 1) * last[1] * up(n, 128)
        module.launch(kernel + "_tail", blocks, 128, [rows(a), rows(b), view(c), x, x, splits, chunk, *last])
        torch.sum(slabs[: splits * tail * n].view(splits, tail, n), 0, out=c[m - tail :])
        return
    if along_k:
        part = View(slabs, [splits, m, n], [m * n, n, 1])
    else:
        part = View(slabs, [splits, m, 1, n], [m * n, n, 0, 1])
    module.launch(kernel, tiles * splits, 128, [rows(a), rows(b), part, x, x, splits, chunk, *last])
    torch.sum(slabs[: splits * m * n].view(splits, m, n), 0, out=c)


def few():
    """The kernel, blocks and threads of the products of few rows by the size's name."""
    with open(os.path.join(OUT, "few.txt")) as file:
        return {name: (kernel, int(blocks), int(threads)) for name, kernel, blocks, threads in map(str.split, file)}


FEW, MODULES = few(), {}


def skinny(a, b, c, along_k):
    m, k = a.shape
    n = b.shape[0] if along_k else b.shape[1]
    name = name_of(m, k, n, along_k)
    kernel, blocks, threads = FEW[name]
    if name not in MODULES:
        MODULES[name] = Module(f"few_{name}")
    x = View(a, [1, m, n], [0, 0, 1])
    extra = [x, x] if along_k else [x, x, x]
    MODULES[name].launch(kernel, blocks, threads, [rows(a), rows(b), rows(c) if along_k else grouped(c), *extra])


def measure(m, k, n, along_k, ways):
    """Ways: (0, 1, 0) is the kernel for few rows, (tile, parts, rows in parts or 0 for all) the others."""
    a = torch.randn(m, k, device="cuda")
    shape = (n, k) if along_k else (k, n)
    copies = 1 if m > 32 else max(1, min(64, 200_000_000 // (4 * n * k) + 1))
    bs = [torch.randn(shape, device="cuda") for _ in range(copies)]
    c = torch.empty(m, n, device="cuda")
    slabs = torch.empty(max(parts * (tail or m) for _, parts, tail in ways) * n, device="cuda")
    b64 = bs[0].double()
    exact = a.double() @ (b64.t() if along_k else b64)
    scale = exact.abs().max().item()
    turn = [0]

    def weight():
        turn[0] = (turn[0] + 1) % copies
        return bs[turn[0]]

    def theirs():
        b = weight()
        torch.matmul(a, b.t() if along_k else b, out=c)

    def error():
        return (c.double() - exact).abs().max().item() / scale

    torch.matmul(a, bs[0].t() if along_k else bs[0], out=c)
    their_error = error()
    base = median_us(theirs)
    flops, size = 2 * m * n * k, 4 * (n * k + m * k + m * n)
    label = f"{m}x{k}x{n}{' nt' if along_k else ''}"
    print(f"{label:20s} cuBLAS        {base:9.2f} us {flops / base / 1e6:6.2f} TFLOP/s {size / base / 1e6:5.2f} TB/s  error {their_error:.1e}")
    choice, *choice_parts = CHOSEN.get(name_of(m, k, n, along_k), ("", 0, 0))
    for tile, parts, tail in ways:
        def ours(b=None):
            b = weight() if b is None else b
            tiled(a, b, c, tile, parts, tail, along_k, slabs) if tile else skinny(a, b, c, along_k)

        try:
            c.fill_(float("nan"))
            ours(bs[0])
            first = c.clone()
            our_error = error()
            ours(bs[0])
            same = torch.equal(first, c)
            time = median_us(ours)
        except RuntimeError as problem:
            print(f"{'':20s} tile {tile}, {parts} parts of {tail}: {problem}")
            raise
        what = f"{tile} rows / {parts}{f' of {tail}' if tail else ''}" if tile else "few rows"
        kind = f"_{tile}x128_" if tile else "_skinny_"
        mark = " chosen" if kind in choice and [parts, tail] == choice_parts else ""
        bad = "" if our_error < 5e-6 else "  WRONG"
        print(f"{'':20s} {what:13s} {time:9.2f} us {flops / time / 1e6:6.2f} TFLOP/s {size / time / 1e6:5.2f} TB/s  error {our_error:.1e} {100 * base / time:5.0f} % {'same' if same else 'DIFFERS'}{mark}{bad}", flush=True)


# Odd sizes first: right or not.
for m, k, n in ((100, 44, 132), (1, 4, 4), (65, 36, 260)):
    ways = [(tile, parts, 0) for tile in (32, 48, 64) for parts in (1, 2)]
    measure(m, k, n, False, ways + [(64, parts, m % 64) for parts in (2, 3)])
for m, k, n in ((100, 44, 133), (65, 36, 257)):
    measure(m, k, n, True, [(64, 1, 0), (64, 2, 0)])
for m in (1, 4, 8):
    measure(m, 77, 100, False, [(0, 1, 0)])
    measure(m, 76, 101, True, [(0, 1, 0)])
for m, k, n, along_k in SHAPES:
    if m <= 8:
        ways = [(0, 1)] + ([(32, 1)] if along_k else [])
    elif m <= 32:
        ways = [(32, parts) for parts in ((1,) if along_k else (4, 5, 6, 7, 11, 12, 16, 20, 22) if k > 768 else (4, 5, 6, 7, 11, 12, 16))]
    elif along_k or m * n > 4_000_000:
        ways = [(64, 1)] + ([] if along_k else [(48, 1)])
    else:
        ways = [(tile, parts) for tile in (48, 64) for parts in (1, 2, 3, 4, 5, 6)]
    if m * n > 4_000_000 and not along_k:
        ways += [(64, parts, rows) for rows in (192, 256) for parts in (3, 5, 7)]
    choice, parts, tail = CHOSEN[name_of(m, k, n, along_k)]
    tile = next((t for t in (32, 48, 64) if f"_{t}x128_" in choice), 0)
    measure(m, k, n, along_k, sorted({*[(*way, 0)[:3] for way in ways], (tile, parts, tail)}))
