"""GPT-2 in NumPy, with the OpenBLAS of its wheel."""

import model
import numpy as np


class Peer:
    title = f"NumPy {np.__version__}"

    def __init__(self, folder):
        self.w, _ = model.weights(folder)
        self.w = {name: np.array(array) for name, array in self.w.items()}
        shape = (2, model.LAYERS, model.HEADS, model.CONTEXT, model.DEPTH)
        self.cache = np.zeros(shape, np.float32)

    def norm(self, x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(model.EPSILON)) * self.w[name + ".weight"] + self.w[name + ".bias"]

    def linear(self, x, name):
        weight = self.w[name + ".weight"]
        # gemv reads a matrix once where gemm of one row does not.
        return (x[0] @ weight)[None] + self.w[name + ".bias"] if len(x) == 1 else x @ weight + self.w[name + ".bias"]

    def run(self, ids, start):
        """Logits of the last of `ids`, which stand at position `start` and on; the cache holds what came before."""
        count, end = len(ids), start + len(ids)
        x = self.w["wte.weight"][ids] + self.w["wpe.weight"][start:end]
        mask = np.where(np.tri(count, dtype=bool), np.float32(0), np.float32(-np.inf))
        for layer in range(model.LAYERS):
            h = f"h.{layer}."
            qkv = self.linear(self.norm(x, h + "ln_1"), h + "attn.c_attn")
            q, k, v = qkv.reshape(count, 3, model.HEADS, model.DEPTH).transpose(1, 2, 0, 3)
            keys, values = self.cache[:, layer]
            keys[:, start:end], values[:, start:end] = k, v
            scores = q @ keys[:, :end].transpose(0, 2, 1) * np.float32(model.DEPTH**-0.5)
            scores[:, :, start:] += mask
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            context = (scores @ values[:, :end]).transpose(1, 0, 2).reshape(count, model.WIDTH)
            x = x + self.linear(context, h + "attn.c_proj")
            up = self.linear(self.norm(x, h + "ln_2"), h + "mlp.c_fc")
            up = np.float32(0.5) * up * (1 + np.tanh(np.float32(0.7978845608) * (up + np.float32(0.044715) * up * up * up)))
            x = x + self.linear(up, h + "mlp.c_proj")
        return self.w["wte.weight"] @ self.norm(x[-1], "ln_f")

    def prefill(self, ids):
        return self.run(ids, 0)

    def fill(self, ids):
        self.run(ids, 0)

    def decode(self, token, position):
        return self.run([token], position)
