"""Causal attention by precision beside torch: right against float64, the same bits twice, then timed.

    benches/gpu/build && python3 benches/gpu/attention.py

Errors are the largest, the largest in units of the weighted sum of |v|, and the root of the mean square.
"""

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from harness import Module, View, median_us, up

HEADS, LENGTH, DEPTH = 12, 1024, 64
torch.manual_seed(0)
q, k, v = (torch.randn(HEADS, LENGTH, DEPTH, device="cuda") for _ in range(3))
out = torch.empty(LENGTH, HEADS, DEPTH, device="cuda")
nothing = View(q, [], [])


def exact(rows, keys):
    scores = q[:, :rows].double() @ k[:, :keys].double().transpose(1, 2) / DEPTH**0.5
    past = torch.ones(rows, keys, dtype=torch.bool, device="cuda").tril()
    weights = scores.masked_fill(~past, float("-inf")).softmax(-1)
    return weights @ v[:, :keys].double(), weights @ v[:, :keys].double().abs()


def errors(result, rows=LENGTH, keys=LENGTH):
    want, size = exact(rows, keys)
    error = (result.double() - want).abs()
    return f"errors {error.max().item():.1e}, {(error / size).max().item():.1e}, {error.square().mean().sqrt().item():.1e}"


def head(t, rows):
    return View(t, [HEADS, rows, DEPTH], [LENGTH * DEPTH, DEPTH, 1])


def ours(precision, kernel, tile, threads):
    module = Module("attention_" + precision)

    def call(rows=LENGTH, keys=LENGTH):
        result = View(out, [HEADS, rows, DEPTH], [DEPTH, HEADS * DEPTH, 1])
        module.launch(kernel, HEADS * up(rows, tile), threads, [head(q, rows), head(k, keys), head(v, keys), result, nothing])

    for rows, keys in ((LENGTH, LENGTH), (997, 1000), (65, 64)):
        out.fill_(float("nan"))
        call(rows, keys)
        first = out.clone()
        call(rows, keys)
        same = "same" if torch.equal(first[:rows], out[:rows]) and out[rows:].isnan().all() else "DIFFERS"
        print(f"{kernel:24s} {rows:5d} x {keys:4d}  {errors(first[:rows].transpose(0, 1), rows, keys)} {same}", flush=True)
    report(kernel, median_us(call))


def report(name, time):
    print(f"{name:24s} {time:9.2f} us  {2 * HEADS * LENGTH**2 * DEPTH / time / 1e6:6.1f} TFLOP/s", flush=True)


def theirs(name, dtype, backend=None):
    a, b, c = (t.to(dtype)[None] for t in (q, k, v))

    def call():
        return scaled_dot_product_attention(a, b, c, is_causal=True)

    backends = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH, SDPBackend.CUDNN_ATTENTION]
    with sdpa_kernel([backend] if backend else backends):
        print(f"{name:24s} {'':12s}  {errors(call()[0])}")
        report(name, median_us(call))


ours("fp32", "attention_causal_f32", 32, 128)
ours("tf32", "attention_causal_tf32", 64, 256)
ours("bf16", "attention_causal_bf16", 64, 256)
theirs("torch f32", torch.float32)
torch.backends.cuda.matmul.allow_tf32 = True
theirs("torch f32, tf32 allowed", torch.float32)
theirs("torch bf16", torch.bfloat16)
theirs("torch bf16, flash", torch.bfloat16, SDPBackend.FLASH_ATTENTION)
theirs("torch bf16, cuDNN", torch.bfloat16, SDPBackend.CUDNN_ATTENTION)
