#!/usr/bin/env python3
"""GPT-2's forward pass over T tokens on the CPU, compiled by tinymlir, beside the same pass in NumPy, in one run.

usage: benches/cpu/forward.py [--size 124M] [--tokens 32] [--rounds 5] [--tools target/release]

Random weights, fp32, both on all cores, turn by turn, so that a noisy machine disturbs both alike. Prints the median of
each and their ratio: on a shared machine the ratio is what counts. PyTorch is measured too where it is installed.
NumPy is taken from this Python, or from tools/reference's cache folder.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

for cache in (os.environ.get("TINYMLIR_CACHE"), os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tinymlir")):
    root = os.path.join(cache or "", "numpy-2")
    sys.path += [os.path.join(folder, "site-packages") for folder, _, _ in os.walk(os.path.join(root, "lib")) if os.path.basename(folder).startswith("python")]
import numpy as np  # noqa: E402

SIZES = {"124M": (12, 12, 768), "355M": (24, 16, 1024), "774M": (36, 20, 1280)}


def numpy_forward(layers, heads, width, tokens):
    """A function that runs the pass once in float32."""
    rng = np.random.default_rng(0)
    draw = lambda *shape: (0.02 * rng.standard_normal(shape)).astype(np.float32)
    blocks = [
        (np.ones(width, np.float32), draw(width), draw(width, 3 * width), draw(3 * width), draw(width, width), draw(width),
         np.ones(width, np.float32), draw(width), draw(width, 4 * width), draw(4 * width), draw(4 * width, width), draw(width))
        for _ in range(layers)
    ]
    wte, wpe, ids = draw(50257, width), draw(1024, width), rng.integers(0, 50257, tokens)
    mask = np.where(np.tri(tokens, dtype=bool), np.float32(0), np.float32(-np.inf))
    scale, eps = np.float32(1 / np.sqrt(width // heads)), np.float32(1e-5)

    def norm(x, g, b):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps) * g + b

    def gelu(x):
        return np.float32(0.5) * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))

    def run():
        x = wte[ids] + wpe[:tokens]
        for g1, b1, wqkv, bqkv, wo, bo, g2, b2, wu, bu, wd, bd in blocks:
            qkv = (norm(x, g1, b1) @ wqkv + bqkv).reshape(tokens, 3, heads, -1).transpose(1, 2, 0, 3)
            s = qkv[0] @ qkv[1].transpose(0, 2, 1) * scale + mask
            s = np.exp(s - s.max(-1, keepdims=True))
            s /= s.sum(-1, keepdims=True)
            x = x + (s @ qkv[2]).transpose(1, 0, 2).reshape(tokens, width) @ wo + bo
            x = x + gelu(norm(x, g2, b2) @ wu + bu) @ wd + bd
        return norm(x, np.float32(1), np.float32(0)) @ wte.T

    return run


def compiled_seconds(tools, module, calls):
    """The median of `calls` calls of the compiled module, as its runner measures it."""
    command = [os.path.join(tools, "tinymlir-runner"), module, "--repeat", str(calls), "-o", "0=" + module + ".npy"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.search(r"\d+ calls: .*median ([0-9.]+) ms", text)
    if not found:
        sys.exit("error: tinymlir-runner printed no median:\n" + text)
    return float(found[1]) / 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="124M", choices=SIZES)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tools", default="target/release")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        module = os.path.join(folder, "gpt2.mlir")
        emit = [os.path.join(options.tools, "tinymlir-gpt2"), "emit", "gpt2", "--model", "random:" + options.size]
        subprocess.run([*emit, "--tokens", str(options.tokens), "-o", module], check=True)
        run = numpy_forward(*SIZES[options.size], options.tokens)
        run()
        ours, numpy = [], []
        for _ in range(options.rounds):
            ours.append(compiled_seconds(options.tools, module, 3))
            for _ in range(3):
                start = time.perf_counter()
                run()
                numpy.append(time.perf_counter() - start)
    a, b = statistics.median(ours), statistics.median(numpy)
    print(f"GPT-2 {options.size}, {options.tokens} tokens, fp32: tinymlir {a * 1e3:.0f} ms, NumPy {np.__version__} {b * 1e3:.0f} ms: {b / a:.2f} times as fast")


main()
