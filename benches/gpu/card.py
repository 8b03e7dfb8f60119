"""Everything that needs an NVIDIA GPU, in one run: `python3 card.py FOLDER OUT`.

FOLDER is what benches/gpu/pack.sh packed: bin/ with the tools, toolkit/ with libdevice, tests/ with the CUDA tests of the
runtime, lit/, and the repository's test/, models/ and lit.cfg. Writes logs to OUT and prints one line for each check, then
a table. Exit status 1 if any check failed.
"""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

HERE, OUT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# Seconds after which no further check is started.
BUDGET = float(os.environ.get("CARD_BUDGET", "440"))
START = time.time()
BIN = os.path.join(HERE, "bin")
SCRATCH = os.path.join(HERE, "scratch")
# Groups of modules with arrays beside them.
ARRAYS = ("torch", "written")
CASES = ["gelu", "softmax", "layer_norm", "matmul", "gather", "attention"]
ENVIRONMENT = dict(
    os.environ,
    PATH=BIN + os.pathsep + os.environ["PATH"],
    TINYMLIR_CUDA_TOOLKIT=os.path.join(HERE, "toolkit"),
    CUDA_CACHE_DISABLE="1",
)
KJV = os.path.join(HERE, "models", "kjv")
only = set(os.environ.get("CARD_ONLY", "").split())

results = []  # (group, name, verdict, detail)
cases = {}  # what became of each module under test/cases: "right", "refused: MESSAGE" or "wrong: MESSAGE"


def log(file, text):
    with open(os.path.join(OUT, file), "a") as out:
        out.write(text)


def run(command, timeout=120, env=None):
    """Exit status, output of both kinds, seconds; status None when the time was up."""
    start = time.time()
    left = BUDGET + 60 - (start - START)
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env or ENVIRONMENT, cwd=SCRATCH,
            timeout=max(1, min(timeout, left)), stdin=subprocess.DEVNULL,
        )
        return done.returncode, done.stdout.decode(errors="replace"), time.time() - start
    except subprocess.TimeoutExpired as expired:
        return None, (expired.stdout or b"").decode(errors="replace"), time.time() - start


def check(group, name, command, file, good=None, timeout=120, env=None):
    """Runs a command; it passes with status 0 and, where given, when `good(output)` finds no fault."""
    if time.time() - START > BUDGET:
        results.append((group, name, "NOT RUN", "no time left"))
        return ""
    status, text, seconds = run(command, timeout, env)
    fault = "time is up" if status is None else "status %d" % status if status else (good(text) if good else None)
    verdict = "ok" if not fault else "FAILED"
    detail = fault or ""
    if fault:
        lines = [l for l in text.splitlines() if "error" in l.lower()] or text.splitlines()[-1:]
        detail += ": " + (lines[0][:160] if lines else "")
    results.append((group, name, verdict, detail))
    log(file, "=== %s %s: %s %s (%.1f s)\n$ %s\n%s\n" % (group, name, verdict, detail, seconds, " ".join(command), text))
    print("%6.1f %-7s %s %s %s" % (time.time() - START, verdict, group, name, detail), flush=True)
    return text


def together(jobs, workers=8):
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for job in [pool.submit(check, *args, **keys) for args, keys in jobs]:
            job.result()


def wanted(group):
    return not only or group in only


def job(*args, **keys):
    return args, keys


def runner(*args):
    return [os.path.join(BIN, "tinymlir-runner"), *args]


def gpt2(*args):
    return [os.path.join(BIN, "tinymlir-gpt2"), *args]


def module(case):
    return os.path.join(SCRATCH, case + ".mlir")


def weights(case):
    file = os.path.join(SCRATCH, case + ".safetensors")
    return ["--weights", file] if os.path.exists(file) else []


def prepare():
    """The six cases as modules, and what the CPU makes of them."""
    def one(case):
        run(gpt2("emit", case, "-o", module(case)))
        status, text, _ = run(runner(module(case), *weights(case), "-o", "0=" + os.path.join(SCRATCH, case + ".npy")))
        if status != 0:
            log("checks.log", "=== the CPU fails on %s\n%s\n" % (case, text))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        list(pool.map(one, CASES))


def six():
    jobs = []
    for case in CASES:
        expected = "0=" + os.path.join(SCRATCH, case + ".npy")
        for flags in ([], ["--memory", "device"], ["--schedule", "fast"]):
            command = runner(module(case), "--gpu", *flags, *weights(case), "--expect", expected, "--rtol", "2e-5", "--atol", "2e-5")
            jobs.append(job("six", " ".join([case, *flags]), command, "checks.log"))
    together(jobs)


def verify():
    jobs = []
    for mode in ([], ["--fused"], ["--cached"]):
        for flags in ([], ["--memory", "device"], ["--schedule", "fast"]):
            command = gpt2("verify", "--model", KJV, "--gpu", *mode, *flags, "--rtol", "0", "--atol", "3e-5")
            jobs.append(job("verify", " ".join(["kjv", *mode, *flags]), command, "checks.log"))
    together(jobs, 6)


def runtime():
    """The runtime's own tests; one of them is a case of others, so they run one by one."""
    env = dict(ENVIRONMENT, RUST_BACKTRACE="0")
    check("runtime", "tests", [os.path.join(HERE, "tests", "cuda"), "--ignored"], "runtime.log", env=env)


def reported():
    """The RUN lines of every case and program, with --gpu added to tinymlir-runner, and the tests that need a card as they are."""
    shims = os.path.join(SCRATCH, "shims")
    os.makedirs(shims, exist_ok=True)
    for tool in ("tinymlir-opt", "tinymlir-gpt2", "FileCheck"):
        os.symlink(os.path.join(BIN, tool), os.path.join(shims, tool))
    with open(os.path.join(shims, "tinymlir-runner"), "w") as shim:
        shim.write('#!/bin/sh\ncase " $* " in *" --gpu "*) ;; *) set -- --gpu "$@" ;; esac\nexec %s "$@"\n' % os.path.join(BIN, "tinymlir-runner"))
    os.chmod(os.path.join(shims, "tinymlir-runner"), 0o755)
    lit = "import sys; sys.path.insert(0, %r); from lit.main import main; main()" % os.path.join(HERE, "lit")
    jobs = []
    sets = sorted(n for n in os.listdir(os.path.join(HERE, "test", "cases")) if n not in ARRAYS and os.path.isdir(os.path.join(HERE, "test", "cases", n)))
    for name, tools, tests in (
        ("reported", shims, ["test/cases/" + n for n in sets]),
        ("programs", shims, ["test/run/programs"]),
        ("tests", BIN, ["test/gpu", "test/run/runner-gpu.mlir"]),
    ):
        env = dict(ENVIRONMENT, TINYMLIR_TOOLS_DIR=tools, TINYMLIR_LIT_OUTPUT=os.path.join(SCRATCH, name))
        env["MLIR_SYS_220_PREFIX"] = os.path.join(SCRATCH, "no-llvm")
        # A feature for the lines whose answer differs.
        env["TINYMLIR_LIT_GPU"] = "1" if tools == shims else ""
        command = [sys.executable, "-c", lit, "-v", "-j", "8", *(os.path.join(HERE, t) for t in tests)]
        jobs.append(job("lit", name, command, "lit-%s.log" % name, timeout=150, env=env))
    together(jobs, 3)
    modules = []
    for name in ("reported", "programs", "tests"):
        path = os.path.join(OUT, "lit-%s.log" % name)
        for line in open(path).read().splitlines() if os.path.exists(path) else []:
            found = re.match(r"(PASS|FAIL|UNSUPPORTED|UNRESOLVED|XFAIL|XPASS|TIMEOUT): tinymlir :: (\S+)", line)
            if found:
                verdict = {"PASS": "ok", "XFAIL": "ok", "UNSUPPORTED": "not for this machine"}.get(found[1], "FAILED")
                results.append((name, found[2].split("/")[-1], verdict, ""))
                if name == "reported":
                    modules.append((found[2].replace("test/cases/", "").replace(".mlir", ""), verdict))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        cases.update(pool.map(became, modules))


def became(case):
    """What became of a module that lit ran: a refusal that its RUN lines expect is one here."""
    name, verdict = case
    if verdict != "ok":
        return name, "wrong: its RUN lines fail"
    status, text, _ = run(runner("--gpu", os.path.join(HERE, "test", "cases", name + ".mlir")))
    return name, outcome(status, text)


def outcome(status, text):
    """Right, or the message of the first error, without the place in front of it."""
    if status == 0:
        return "right"
    errors = [l.split("error: ", 1)[1] for l in text.splitlines() if "error: " in l]
    message = re.sub(r"^\S*\.mlir:[0-9:]*\s*(error: )?", "", errors[0]) if errors else "status %s" % status
    return ("refused: " if status == 1 and errors and not message.startswith("result ") else "wrong: ") + message


def torch():
    jobs = []
    for group in ARRAYS:
        at = os.path.join(HERE, "test", "cases", group)
        for entry in json.load(open(os.path.join(at, "index.json"))):
            folder = os.path.join(at, entry["name"])
            for prefix in ("", "alt.") if entry["dynamic"] else ("",):
                command = runner(os.path.join(folder, "module.mlir"), "--gpu", "--strict-args")
                command += ["--rtol", str(entry["tolerance"]), "--atol", str(entry["tolerance"])]
                for i in range(entry["inputs"]):
                    command += ["--arg", "%d=%s/%sin%d.npy" % (i, folder, prefix, i)]
                for i in range(entry["outputs"]):
                    command += ["--expect", "%d=%s/%sout%d.npy" % (i, folder, prefix, i)]
                jobs.append(job(group, prefix + entry["name"], command, "checks.log"))
    together(jobs)
    for group, name, verdict, detail in list(results):
        name = group + "/" + name.removeprefix("alt.")
        if group in ARRAYS and cases.get(name, "right") == "right":
            # status 1: [PLACE] error: MESSAGE
            known = detail.partition(": ")[2]
            cases[name] = "right" if verdict == "ok" else outcome(1 if detail.startswith("status 1:") else None, known)


def sanitizer():
    tool = "compute-sanitizer"
    for folder in ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer"):
        if os.access(os.path.join(folder, tool), os.X_OK):
            tool = os.path.join(folder, tool)
            break

    def clean(text):
        found = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (.*)", text)
        bad = [f for f in found if not f.startswith("0 ")]
        return None if found and not bad else "; ".join(bad) or "no summary"

    jobs = []
    for kind in ("memcheck", "racecheck", "synccheck", "initcheck"):
        flags = ["--gpu"] + (["--memory", "device"] if kind == "initcheck" else [])
        prefix = [tool, "--tool", kind, "--print-limit", "20"]
        for case in CASES:
            jobs.append(job("sanitizer", kind + " " + case, prefix + runner(module(case), *flags, *weights(case)), "sanitizer.log", good=clean))
        for mode in ([], ["--uncached"], ["--fused"]):
            command = gpt2("generate", "In the beginning", "--model", KJV, "-n", "3", *flags, *mode)
            jobs.append(job("sanitizer", " ".join([kind, "gpt2", *mode]), prefix + command, "sanitizer.log", good=clean, timeout=150))
    # The long ones first.
    jobs.sort(key=lambda j: "gpt2" not in j[0][1])
    together(jobs, 10)


def timing():
    """The 124M shapes, alone on the card."""
    for tokens in (16, 128):
        file = os.path.join(SCRATCH, "gpt2-%d.mlir" % tokens)
        run(gpt2("emit", "gpt2", "--model", "random:124M", "--tokens", str(tokens), "-o", file))
        for flags in (["--memory", "managed"], ["--memory", "device"], ["--schedule", "fast", "--memory", "device"]):
            sink = "0=" + os.path.join(SCRATCH, "logits.npy")
            command = runner(file, "--gpu", *flags, "-v", "--repeat", "30", "-o", sink)
            text = check("timing", "124M, %d tokens, %s" % (tokens, " ".join(flags)), command, "timing.log")
            results.extend(("timing", "", "   ", line) for line in text.splitlines() if not line.startswith("note:"))
    for flags in ([], ["--schedule", "fast", "--memory", "device"]):
        command = gpt2("bench", "--gpu", "--prefill", "16", "--prefill", "128", "--decode", "100", *flags)
        text = check("timing", " ".join(["124M bench", *flags]), command, "timing.log")
        results.extend(("timing", "", "   ", line) for line in text.splitlines() if line.startswith("{"))


def write_cases():
    """cases.json for test/cases/card.json, the card's column of docs/inputs.md."""
    command = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    card = run(command)[1].strip().splitlines()[0]
    with open(os.path.join(HERE, "COMMIT")) as file:
        head = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "card": card, "commit": file.read().strip()}
    with open(os.path.join(OUT, "cases.json"), "w") as file:
        json.dump(dict(head, cases=dict(sorted(cases.items()))), file, indent=1, ensure_ascii=False)
        file.write("\n")


def main():
    os.makedirs(SCRATCH, exist_ok=True)
    os.makedirs(OUT, exist_ok=True)
    for command in (["nvidia-smi", "-q", "-d", "MEMORY,COMPUTE"], ["nvidia-smi"], runner("--version")):
        try:
            log("machine.log", "$ %s\n%s\n" % (" ".join(command), run(command)[1]))
        except OSError as error:
            log("machine.log", "%s: %s\n" % (command[0], error))
    prepare()
    for group, step in (
        ("runtime", runtime), ("verify", verify), ("six", six), ("reported", reported), ("torch", torch),
        ("timing", timing), ("sanitizer", sanitizer),
    ):
        if wanted(group):
            try:
                step()
            except OSError as error:
                results.append((group, "", "FAILED", str(error)))
    if cases:
        write_cases()
    table = ["", "%.0f s" % (time.time() - START)]
    for group in dict.fromkeys(r[0] for r in results):
        rows = [r for r in results if r[0] == group]
        counted = [r for r in rows if r[2] != "   "]
        good = sum(r[2] == "ok" for r in counted)
        table.append("%-10s %d of %d ok" % (group, good, len(counted)))
        table += ["    %-7s %s %s" % (r[2].strip(), r[1], r[3]) for r in rows if r[2] != "ok"]
    text = "\n".join(table)
    log("summary.txt", text + "\n")
    print(text, flush=True)
    bad = [r for r in results if r[2] in ("FAILED", "NOT RUN")]
    sys.exit(1 if bad else 0)


main()
