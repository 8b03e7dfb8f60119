"""tinymlir, beside the peers: times by `tinymlir-gpt2 bench`, logits by `tinymlir-runner` on what `emit` writes."""

import json
import os
import re
import subprocess
import tempfile

import model
import numpy as np

MODEL = "random:124M"


class Ours:
    def __init__(self, tools, folder, matrices="f32", title="tinymlir"):
        self.tools, self.folder, self.title = tools, folder, title
        self.flags = [] if matrices == "f32" else ["--weights", matrices]
        self.bandwidth, self.figures = [], []

    def time(self, work, calls):
        """The median of `calls` calls, after as many that warm up."""
        kind, size = work
        command = [os.path.join(self.tools, "tinymlir-gpt2"), "bench", "--model", MODEL, *self.flags, f"--{kind}", str(size), "--repeat", str(calls)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        self.bandwidth += [float(n) for n in re.findall(r"memory reads ([0-9.]+) GB/s", run.stderr)]
        figure = json.loads(run.stdout.splitlines()[-1])
        self.figures.append(figure)
        return [figure["seconds"]]

    def logits(self, work, cache):
        """The last token's logits; `cache` holds keys and values of the prompt before a step, by name."""
        kind, size = work
        function, tokens = ("prefill", size) if kind == "prefill" else ("step", 1)
        _, weights = model.weights(self.folder)
        with tempfile.TemporaryDirectory() as place:
            path = lambda name: os.path.join(place, name)
            emit = ["emit", function, "--model", MODEL, "--tokens", str(tokens), "--logits", "-o", path("module.mlir")]
            subprocess.run([os.path.join(self.tools, "tinymlir-gpt2"), *emit], check=True)
            run = [os.path.join(self.tools, "tinymlir-runner"), path("module.mlir"), "-e", function, "--weights", weights]
            if kind == "prefill":
                np.save(path("ids.npy"), np.array(model.prompt(size), np.int32))
                run += ["--arg", f"ids={path('ids.npy')}", "--arg", f"length={size}"]
            else:
                model.write_safetensors(path("cache.safetensors"), cache)
                run += ["--weights", path("cache.safetensors"), "--arg", "token=0", "--arg", f"position={size}"]
            done = subprocess.run([*run, "-o", f"logits={path('logits.npy')}"], capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(done.stderr.splitlines()[-1])
            return np.load(path("logits.npy")).reshape(-1)
