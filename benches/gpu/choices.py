"""Which kernel and how many parts of K the compiler chooses for the products that gemm.py measures, from its remarks.

    python3 benches/gpu/choices.py target/debug/tinymlir-opt sm_90 > benches/gpu/out/choices.txt

A line a product: size, kernel, parts, and of how many of the last rows (0: of all). benches/gpu/build runs it.
"""

import re
import subprocess
import sys

# M, K, N, and whether B is stored N x K: large; GPT-2's prefill at 1,024 and 32 positions; a decode step.
GPT2 = ((768, 2304), (768, 768), (768, 3072), (3072, 768))
SHAPES = [(4096, 4096, 4096, False), (4096, 4096, 4096, True)]
SHAPES += [(1024, k, n, False) for k, n in GPT2] + [(1024, 768, 50257, True)]
SHAPES += [(m, k, n, False) for m in (32, 16) for k, n in GPT2] + [(32, 768, 50257, True), (16, 768, 50257, True)]
SHAPES += [shape for m in (1, 4, 8) for shape in [(m, k, n, False) for k, n in GPT2] + [(m, 768, 50257, True)]]


def label(m, k, n, along_k):
    return f"{m}x{k}x{n}{'nt' if along_k else ''}"


def function(m, k, n, along_k):
    a, b, c = (f"memref<{x}x{y}xf32>" for x, y in ((m, k), (n, k) if along_k else (k, n), (m, n)))
    b_map = "(j, k)" if along_k else "(k, j)"
    maps = ", ".join(f"affine_map<(i, j, k) -> {d}>" for d in ("(i, k)", b_map, "(i, j)"))
    return f"""func.func @p{label(m, k, n, along_k)}(%a: {a}, %b: {b}, %c: {c}) {{
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : {c})
  linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
  ^bb0(%x: f32, %y: f32, %out: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  }}
  return
}}"""


def main():
    opt, chip = sys.argv[1:]
    flags = ["-", f"--tinymlir-tuned-matmul=chip={chip}", "--remarks-filter=tinymlir", "-o", "/dev/null"]
    module = "\n".join(function(*shape) for shape in SHAPES)
    run = subprocess.run([opt, *flags], input=module, capture_output=True, text=True, check=True)
    found = re.findall(r"Function=p(\w+) \| .*? becomes (\w+) .*? splits=(\d+), tail=(\d+),", run.stderr)
    for line in found:
        print(*line)


if __name__ == "__main__":
    main()
