"""The tf32 product kernels beside cuBLAS in tf32: their error against float64, and their time.

    benches/gpu/build && python3 benches/gpu/tf32.py
"""

import torch

from harness import Module, View, median_us, up

torch.backends.cuda.matmul.allow_tf32 = True
module = Module("tf32")


def measure(m, k, n, along_k, ways):
    a = torch.randn(m, k, device="cuda")
    b = torch.randn((n, k) if along_k else (k, n), device="cuda")
    c = torch.empty(m, n, device="cuda")
    slabs = torch.empty(max(ways) * m * n, device="cuda")
    b_read = b.t() if along_k else b
    exact = a.double() @ b_read.double()
    scale = exact.abs().max().item()
    rows = lambda t: View(t, [1, *t.shape], [t.numel(), t.shape[1], 1])
    grouped = View(c, [1, m, 1, n], [m * n, n, 0, 1])
    x = View(a, [1, m, n], [0, 0, 1])
    error = lambda: (c.double() - exact).abs().max().item() / scale
    torch.matmul(a, b_read, out=c)
    their_error, base = error(), median_us(lambda: torch.matmul(a, b_read, out=c))
    flops = 2 * m * n * k
    label = f"{m}x{k}x{n}{' nt' if along_k else ''}"
    print(f"{label:20s} cuBLAS tf32   {base:9.2f} us {flops / base / 1e6:6.1f} TFLOP/s  error {their_error:.1e}")
    for splits in ways:
        def ours():
            tiles, chunk = up(m, 128) * up(n, 128), up(up(k, splits), 16) * 16
            kernel = f"matmul_tf32_128x128{'_nt' if along_k else ''}"
            if splits == 1:
                out = rows(c) if along_k else grouped
                module.launch(kernel, tiles, 128, [rows(a), rows(b), out, x, x, 1, chunk])
                return
            part = View(slabs, [splits, m, n], [m * n, n, 1]) if along_k else View(slabs, [splits, m, 1, n], [m * n, n, 0, 1])
            module.launch(kernel, tiles * splits, 128, [rows(a), rows(b), part, x, x, splits, chunk])
            # The compiler's own sum is made for one size.
            torch.sum(slabs[: splits * m * n].view(splits, m, n), 0, out=c)

        c.fill_(float("nan"))
        ours()
        first, our_error = c.clone(), error()
        ours()
        same, time = torch.equal(first, c), median_us(ours)
        bad = "" if our_error < 3e-3 else "  WRONG"
        print(f"{'':20s} split {splits:2d}      {time:9.2f} us {flops / time / 1e6:6.1f} TFLOP/s  error {our_error:.1e} {100 * base / time:5.0f} % {'same' if same else 'DIFFERS'}{bad}", flush=True)


measure(100, 44, 132, False, [1, 2])
measure(65, 36, 257, True, [1, 2])
measure(4096, 4096, 4096, False, [1])
measure(4096, 4096, 4096, True, [1])
for k, n in ((768, 2304), (768, 768), (768, 3072), (3072, 768)):
    measure(1024, k, n, False, [1, 2, 3, 4])
measure(1024, 768, 50257, True, [1])
