"""Runs one peer in a process of its own, on commands of benches/cpu/compare.py: a line of JSON in, one out.

    {"do": "time", "work": ["prefill", 128], "calls": 3}    -> {"seconds": [...]}, after a call to warm up
    {"do": "logits", "work": ["decode", 100], "to": FILE}   -> {}, the last token's logits as .npy

A peer is a module of benches/cpu/peers with a class `Peer(folder)`: `title`, `prefill(ids)` and `decode(token, position)`,
which return the last token's logits, and `fill(ids)`, which fills the cache of `decode` from position 0 on.
"""

import importlib
import json
import os
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")]
import model  # noqa: E402
import numpy as np  # noqa: E402


def main():
    # What a library prints must not stand among the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = importlib.import_module(sys.argv[1]).Peer(sys.argv[2])
    print(json.dumps({"title": peer.title}), file=answers, flush=True)
    ready, warm = None, set()
    for line in sys.stdin:
        command = json.loads(line)
        kind, size = command["work"]
        if kind == "prefill":
            ids = model.prompt(size)
            call = lambda: peer.prefill(ids)
        else:
            if ready != size:
                peer.fill(model.prompt(size))
            call = lambda: peer.decode(0, size)
        ready = size if kind == "decode" else None
        if command["do"] == "logits":
            np.save(command["to"], np.asarray(call(), np.float32).reshape(-1))
            answer = {}
        else:
            for _ in range(1 if (kind, size) in warm else 2):
                call()
            warm.add((kind, size))
            seconds = []
            for _ in range(command["calls"]):
                start = time.perf_counter()
                call()
                seconds.append(time.perf_counter() - start)
            answer = {"seconds": seconds}
        print(json.dumps(answer), file=answers, flush=True)


main()
