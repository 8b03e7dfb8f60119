"""GPT-2 in PyTorch through torch.compile (Inductor), with weights frozen into the code, as its documentation advises."""

import os

import torch
import torch_peer


class Peer(torch_peer.Peer):
    title = f"PyTorch {torch.__version__.partition('+')[0]}, torch.compile"

    def __init__(self, folder):
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(folder, "inductor"))
        torch._inductor.config.freezing = True
        super().__init__(folder)
        self.run_prefill = torch.compile(self.model.prefill, dynamic=False)
        self.run_step = torch.compile(self.model.static_step, dynamic=False)

    def prefill(self, ids):
        return self.run_prefill(torch.tensor(ids))

    def fill(self, ids):
        self.model.prefill(torch.tensor(ids))

    def decode(self, token, position):
        return self.run_step(torch.tensor([token]), torch.tensor([position]))
