"""GPT-2 in PyTorch, eagerly: its fused attention, matrices transposed once so that a row of them is contiguous."""

import model
import numpy as np
import torch
import torch.nn.functional as F

class Model(torch.nn.Module):
    def __init__(self, weights):
        super().__init__()
        for name, array in weights.items():
            tensor = torch.from_numpy(np.array(array))
            if name.startswith("h.") and tensor.dim() == 2:
                tensor = tensor.T.contiguous()
            self.register_parameter(name.replace(".", "_"), torch.nn.Parameter(tensor, requires_grad=False))
        # An array for each: what a compiled function writes to a part of a larger one, it copies whole.
        shape = (model.HEADS, model.CONTEXT, model.DEPTH)
        self.caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(model.LAYERS)]

    def norm(self, x, name):
        return F.layer_norm(x, (model.WIDTH,), getattr(self, name + "_weight"), getattr(self, name + "_bias"), model.EPSILON)

    def linear(self, x, name):
        return F.linear(x, getattr(self, name + "_weight"), getattr(self, name + "_bias"))

    def run(self, ids, positions, attend):
        x = self.wte_weight[ids] + self.wpe_weight[positions]
        for layer in range(model.LAYERS):
            h = f"h_{layer}_"
            qkv = self.linear(self.norm(x, h + "ln_1"), h + "attn_c_attn")
            q, k, v = qkv.view(-1, 3, model.HEADS, model.DEPTH).permute(1, 2, 0, 3)
            context = attend(self.caches[layer], q, k, v).transpose(0, 1).reshape(-1, model.WIDTH)
            x = x + self.linear(context, h + "attn_c_proj")
            up = F.gelu(self.linear(self.norm(x, h + "ln_2"), h + "mlp_c_fc"), approximate="tanh")
            x = x + self.linear(up, h + "mlp_c_proj")
        return F.linear(self.norm(x[-1:], "ln_f"), self.wte_weight)

    def prefill(self, ids):
        count = ids.shape[0]

        def attend(cache, q, k, v):
            cache[0][:, :count] = k
            cache[1][:, :count] = v
            return F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]

        return self.run(ids, torch.arange(count), attend)

    def step(self, token, position):
        """The position is a number: attention reads the part of the cache that counts."""

        def attend(cache, q, k, v):
            cache[0][:, position : position + 1] = k
            cache[1][:, position : position + 1] = v
            keys, values = (part[None, :, : position + 1] for part in cache)
            return F.scaled_dot_product_attention(q[None], keys, values)[0]

        return self.run(token, torch.tensor([position]), attend)

    def static_step(self, token, position):
        """The position is data, so that what was compiled serves every position: attention is masked."""
        mask = torch.arange(model.CONTEXT) <= position

        def attend(cache, q, k, v):
            cache[0].index_copy_(1, position, k)
            cache[1].index_copy_(1, position, v)
            return F.scaled_dot_product_attention(q[None], cache[0][None], cache[1][None], attn_mask=mask[None, None, None])[0]

        return self.run(token, position, attend)


class Peer:
    title = f"PyTorch {torch.__version__.partition('+')[0]}, eager"

    def __init__(self, folder):
        torch.set_grad_enabled(False)
        weights, _ = model.weights(folder)
        self.model = Model(weights).eval()

    def prefill(self, ids):
        return self.model.prefill(torch.tensor(ids))

    fill = prefill

    def decode(self, token, position):
        return self.model.step(torch.tensor([token]), position)
