"""Softmax, layer norm and attention of one row beside torch: right against float64, then timed.

    benches/gpu/build && python3 benches/gpu/rows.py
"""

import torch

from harness import Module, View, median_us

torch.backends.cuda.matmul.allow_tf32 = False
module = Module("rows")


def dense(t):
    """A descriptor of a contiguous tensor."""
    return View(t, list(t.shape), list(t.stride()))


def report(name, ours, theirs, result, exact, size, flops=0):
    ours()
    first = result.clone()
    error = ((first.double() - exact).abs().max() / exact.abs().max()).item()
    ours()
    same = torch.equal(first, result)
    time, base = median_us(ours), median_us(theirs)
    rate = f"{flops / time / 1e6:6.2f} TFLOP/s" if flops else f"{size / time / 1e6:6.2f} TB/s"
    bad = "" if error < 5e-6 else "  WRONG"
    print(f"{name:28s} {time:9.2f} us  torch {base:9.2f} us  {100 * base / time:4.0f} %  {rate}  error {error:.1e} {'same' if same else 'DIFFERS'}{bad}", flush=True)


x = torch.randn(16384, 4096, device="cuda")
y = torch.empty_like(x)
z = torch.empty_like(x)
copy = median_us(lambda: z.copy_(x))
size = 2 * x.numel() * 4
print(f"{'copy 16384x4096':28s} {copy:9.2f} us  {size / copy / 1e6:6.2f} TB/s")
report("softmax 16384x4096", lambda: module.launch("rows_maximum_add_16384x4096_f32", 16384, 256, [dense(x), dense(y)]),
       lambda: torch.softmax(x, -1), y, torch.softmax(x.double(), -1), size)
gain, bias = torch.randn(4096, device="cuda"), torch.randn(4096, device="cuda")
report("layer norm 16384x4096",
       lambda: module.launch("rows_add_16384x4096_f32", 16384, 256, [dense(x), dense(gain), dense(bias), dense(y)]),
       lambda: torch.nn.functional.layer_norm(x, (4096,), gain, bias), y,
       torch.nn.functional.layer_norm(x.double(), (4096,), gain.double(), bias.double()), size)
del x, y, z

k, v = (torch.randn(12, 1024, 64, device="cuda") for _ in range(2))
row = torch.randn(12, 1, 64, device="cuda")
one = torch.full((12, 1, 64), float("nan"), device="cuda")
work = torch.empty(12 * 8 * 66, device="cuda")
parts = View(work, [12, 8, 66], [8 * 66, 66, 1])
for position in (0, 100, 960, 1023):
    mask = torch.arange(1024, device="cuda") <= position
    exact = torch.nn.functional.scaled_dot_product_attention(row.double(), k[:, : position + 1].double(), v[:, : position + 1].double())
    report(f"attention of a row at {position}",
           lambda: module.launch("attention_row_f32", 96, 256,
                                 [dense(row), dense(k), dense(v), dense(one), parts, View(mask, [1024], [1])]),
           lambda: torch.nn.functional.scaled_dot_product_attention(row, k[:, : position + 1], v[:, : position + 1]),
           one, exact, 2 * 12 * (position + 1) * 64 * 4)
