"""The model that every program runs: GPT-2's sizes, and weights that equal those of `tinymlir-gpt2 --model random:124M`."""

import json
import os
import struct

import numpy as np

LAYERS, HEADS, WIDTH, VOCABULARY, CONTEXT = 12, 12, 768, 50257, 1024
DEPTH = WIDTH // HEADS
EPSILON = 1e-5


def shapes():
    """Names and shapes of the weights, in the order of the seeds."""
    w = WIDTH
    yield from [("wte.weight", (VOCABULARY, w)), ("wpe.weight", (CONTEXT, w))]
    for layer in range(LAYERS):
        for name, shape in [
            ("ln_1.weight", (w,)), ("ln_1.bias", (w,)), ("attn.c_attn.weight", (w, 3 * w)), ("attn.c_attn.bias", (3 * w,)),
            ("attn.c_proj.weight", (w, w)), ("attn.c_proj.bias", (w,)), ("ln_2.weight", (w,)), ("ln_2.bias", (w,)),
            ("mlp.c_fc.weight", (w, 4 * w)), ("mlp.c_fc.bias", (4 * w,)), ("mlp.c_proj.weight", (4 * w, w)), ("mlp.c_proj.bias", (w,)),
        ]:
            yield f"h.{layer}.{name}", shape
    yield from [("ln_f.weight", (w,)), ("ln_f.bias", (w,))]


def mix(z):
    """The finaliser of SplitMix64, of an array of unsigned 64-bit integers."""
    with np.errstate(over="ignore"):
        z = z + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def draw(shape, seed, mean):
    """The array of that seed: sums of four uniform 16-bit integers, scaled to a deviation of 0.02 (src/gpt2/weights.rs)."""
    with np.errstate(over="ignore"):
        bits = mix(mix(np.uint64(seed)) + np.arange(np.prod(shape), dtype=np.uint64))
    total = sum((bits >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48)).astype(np.float32)
    scale = np.float32(0.02) / np.float32(np.sqrt((2**32 - 1) / 3.0))
    return (np.float32(mean) + (total - np.float32(2 * 65535)) * scale).reshape(shape)


def weights(folder):
    """The weights by name, mapped from a file in `folder` that is made when it is not there."""
    path = os.path.join(folder, "random-124M.safetensors")
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        zero = int(mix(np.uint64(0)))
        arrays = {
            name: draw(shape, zero ^ index, 1.0 if "ln_" in name and name.endswith(".weight") else 0.0)
            for index, (name, shape) in enumerate(shapes())
        }
        write_safetensors(path, arrays)
    return read_safetensors(path), path


def write_safetensors(path, arrays):
    header, offset = {}, 0
    for name, array in arrays.items():
        kind = {"float32": "F32", "int32": "I32"}[str(array.dtype)]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with open(path + ".part", "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            out.write(np.ascontiguousarray(array).tobytes())
    os.replace(path + ".part", path)


def read_safetensors(path):
    data = np.memmap(path, np.uint8, "r")
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    header = json.loads(data[8 : 8 + length].tobytes())
    base, arrays = 8 + length, {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        dtype = {"F32": np.float32, "I32": np.int32}[entry["dtype"]]
        arrays[name] = data[base + first : base + last].view(dtype).reshape(entry["shape"])
    return arrays


def prompt(tokens):
    """The token ids of a prompt, as `tinymlir-gpt2 bench` takes them."""
    return [i * 7919 % VOCABULARY for i in range(tokens)]


def decode_bytes(position):
    """What a step must read: every weight but all but one row of wpe, and the cache so far; the new rows are written."""
    parameters = sum(int(np.prod(shape)) for _, shape in shapes())
    return 4 * (parameters - (CONTEXT - 1) * WIDTH) + 4 * 2 * WIDTH * LAYERS * (position + 1)


def products(tokens):
    """The products with the layers' weights of a pass over `tokens` tokens: how often, M, N, K."""
    w = WIDTH
    return [(LAYERS, tokens, 3 * w, w), (LAYERS, tokens, w, w), (LAYERS, tokens, 4 * w, w), (LAYERS, tokens, w, 4 * w)]
