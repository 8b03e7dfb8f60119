#!/usr/bin/env python3
"""GPT-2 124M on the CPU beside other programs: decoding with a cache, and prompts, in f32 on every core, in one run.

usage: benches/cpu/compare.py [--work decode:100,decode:960,prefill:32,prefill:128,prefill:1024]
                              [--peers numpy,torch,compile,iree,llama,stock] [--rounds 5] [--calls N] [--narrow] [--no-check]
                              [--tools target/release] [--json FILE]

Every program has the same random weights and prompts, a cache of 1,024 positions, and computes the logits of the last token. They
run turn by turn, so that a noisy machine disturbs all alike; a figure is the median over the rounds of each turn's
median, and a ratio above 1 says how many times as long the peer takes. Before that, each program's logits are compared with
NumPy's. `--narrow` adds tinymlir with weights in bf16 and int8.

What a pass must do at least stands beside the times: of a step, the part of the memory's measured read bandwidth that it
reaches; of a prompt, the products of the layers alone by the fastest CBLAS here.

`benches/cpu/setup` installs the peers; one that is absent is skipped. The tools are built by
`cargo build --release -p tinymlir-gpt2 -p tinymlir-runner`. A line of JSON a figure goes to --json.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CACHE = os.environ.get("TINYMLIR_CACHE") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "tinymlir")
PYTHON = os.path.join(CACHE, "peers", "bin", "python")
if os.path.exists(PYTHON) and os.path.realpath(sys.prefix) != os.path.realpath(os.path.join(CACHE, "peers")):
    os.execv(PYTHON, [PYTHON, *sys.argv])
sys.path[:0] = [HERE, os.path.join(HERE, "peers")]

try:
    import model
    import numpy as np
    from ours import Ours
except ImportError as error:
    sys.exit(f"error: {error} (run benches/cpu/setup)")

PEERS = ("numpy", "torch", "compile", "iree", "llama", "stock")
# Stock code takes minutes for more.
OF_STOCK = (("decode", 100), ("prefill", 32))


class Worker:
    """A peer in a process of its own."""

    def __init__(self, name, folder, log):
        self.log = open(log, "w+")
        command = [sys.executable, os.path.join(HERE, "worker.py"), name + "_peer", folder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.title = self.answer()["title"]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.log.seek(0)
            said = [line.strip() for line in self.log.read().splitlines() if line.strip()]
            raise RuntimeError(said[-1] if said else f"exit status {self.process.returncode}")
        return json.loads(line)

    def ask(self, **command):
        print(json.dumps(command), file=self.process.stdin, flush=True)
        return self.answer()

    def time(self, work, calls):
        return self.ask(do="time", work=work, calls=calls)["seconds"]

    def logits(self, work, _):
        with tempfile.NamedTemporaryFile(suffix=".npy") as file:
            self.ask(do="logits", work=work, to=file.name)
            return np.load(file.name)


class Stock:
    """A program that is started for every turn; its logits come with its times."""

    def __init__(self, folder):
        import stock_peer

        self.peer = stock_peer.Peer(folder)
        self.title, self.kept = self.peer.title, {}

    def time(self, work, calls):
        try:
            seconds, self.kept[work] = self.peer.time(*work, calls)
        except subprocess.CalledProcessError as error:
            raise RuntimeError((error.stderr.splitlines() or ["no message"])[0]) from error
        return seconds

    def logits(self, work, _):
        if work not in self.kept:
            self.time(work, 1)
        return self.kept[work]


def works(text):
    for part in text.split(","):
        kind, _, size = part.partition(":")
        if kind not in ("decode", "prefill") or not size.isdigit() or not 1 <= int(size) < model.CONTEXT + (kind == "prefill"):
            sys.exit(f"error: '{part}' is neither decode:POSITION nor prefill:TOKENS within {model.CONTEXT}")
        yield kind, int(size)


def start(names, folder):
    """The peers that are here."""
    started = {}
    for name in names:
        try:
            log = os.path.join(folder, f"{name}.log")
            started[name] = Stock(folder) if name == "stock" else Worker(name, folder, log)
        except (RuntimeError, OSError, ImportError) as error:
            print(f"skipped: {name}: {error} (benches/cpu/setup installs the peers)", file=sys.stderr)
    return started


def cache_before(position):
    """Keys and values of the prompt before `position`, by NumPy; and the logits of a step with token 0 there."""
    import numpy_peer

    peer = numpy_peer.Peer(DATA)
    peer.fill(model.prompt(position))
    names = {f"h.{layer}.cache.{part}": peer.cache[i, layer].copy() for i, part in enumerate("kv") for layer in range(model.LAYERS)}
    return names, peer.decode(0, position)


def check(programs, todo):
    """Compares each program's logits with NumPy's; the largest difference by program."""
    import numpy_peer

    reference, largest = numpy_peer.Peer(DATA), {}
    for work in todo:
        kind, size = work
        cache, expected = cache_before(size) if kind == "decode" else ({}, reference.prefill(model.prompt(size)))
        for name, program in programs.items():
            if name == "stock" and work not in OF_STOCK:
                continue
            difference = float(np.abs(program.logits(work, cache) - expected).max())
            # llama.cpp looks GELU up in a table of f16.
            if not difference < (2e-2 if name == "llama" else 1e-3):
                sys.exit(f"error: {program.title} computes other logits at {kind} {size}: they differ by {difference:.3g}")
            largest[name] = max(largest.get(name, 0.0), difference)
    for name, difference in largest.items():
        print(f"checked: {programs[name].title}: logits within {difference:.1e} of NumPy's", file=sys.stderr)


def measure(programs, work, rounds, calls, record):
    """The median seconds of each program: of the rounds' medians, the programs in turn."""
    medians = {}
    for turn in range(rounds):
        for name, program in programs.items():
            if name == "stock" and (work not in OF_STOCK or turn > 0):
                continue
            if name in ("bf16", "int8") and work[0] != "decode":
                continue
            seconds = program.time(work, 1 if name == "stock" else calls)
            time.sleep(0.05)  # threads of the one before go to sleep
            medians.setdefault(name, []).append(statistics.median(seconds))
            record(name, work, turn, seconds)
    return {name: statistics.median(of_rounds) for name, of_rounds in medians.items()}


def main():
    global DATA
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", default="decode:100,decode:960,prefill:32,prefill:128,prefill:1024")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, help="of a turn [default: as many as take half a second, by the work's kind and size]")
    parser.add_argument("--narrow", action="store_true")
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--tools", default=os.path.join(HERE, "../../target/release"))
    parser.add_argument("--json")
    options = parser.parse_args()
    os.environ["TINYMLIR_TOOLS_DIR"] = options.tools
    DATA = os.path.join(CACHE, "peers-data")
    todo, names = list(works(options.work)), [name for name in options.peers.split(",") if name]
    if unknown := set(names) - set(PEERS):
        sys.exit(f"error: there is no peer {', '.join(sorted(unknown))}: {', '.join(PEERS)}")
    if not os.path.exists(os.path.join(options.tools, "tinymlir-gpt2")):
        sys.exit(f"error: there is no {options.tools}/tinymlir-gpt2 (cargo build --release -p tinymlir-gpt2 -p tinymlir-runner)")
    model.weights(DATA)
    ours = Ours(options.tools, DATA)
    programs = {"tinymlir": ours, **start(names, DATA)}
    if not options.no_check:
        check(programs, todo)
    if options.narrow:
        programs |= {kind: Ours(options.tools, DATA, kind, f"tinymlir {kind}") for kind in ("bf16", "int8")}
    lines = open(options.json, "w") if options.json else None

    def record(name, work, turn, seconds):
        if lines:
            print(json.dumps({"program": programs[name].title, "work": work[0], "size": work[1], "round": turn, "seconds": seconds}), file=lines, flush=True)

    table, notes = [], []
    for work in todo:
        kind, size = work
        calls = options.calls or (10 if kind == "decode" else 5 if size <= 64 else 2 if size <= 256 else 1)
        found = measure(programs, work, options.rounds, calls, record)
        table.append((work, found))
        mine = found["tinymlir"]
        if kind == "decode":
            reads = statistics.median(ours.bandwidth) * 1e9
            notes.append(f"decode at {size}: {model.decode_bytes(size) / mine / reads:.0%} of the {reads / 1e9:.1f} GB/s that memory reads")
        else:
            import gemm

            seconds, library = gemm.best(size)
            notes.append(f"prompt of {size}: the layers' products alone take {seconds * 1e3:.0f} ms with {library}, {seconds / mine:.0%} of the pass")
        print("; ".join(f"{programs[n].title} {s * 1e3:.1f} ms" for n, s in found.items()), file=sys.stderr, flush=True)

    columns = list(programs)
    print("| | " + " | ".join(programs[name].title for name in columns) + " |")
    print("| --- |" + " --- |" * len(columns))
    for (kind, size), found in table:
        title = f"a token at position {size}" if kind == "decode" else f"a prompt of {size}"
        cells = []
        for name in columns:
            ratio = f" ({found[name] / found['tinymlir']:.2f})" if name in found and name != "tinymlir" else ""
            cells.append(f"{found[name] * 1e3:.1f} ms{ratio}" if name in found else "")
        print(f"| {title} | " + " | ".join(cells) + " |")
    print("\n" + "\n".join(notes))


main()
