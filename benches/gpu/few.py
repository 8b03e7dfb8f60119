"""PTX of the kernel that the compiler makes for each product of few rows that gemm.py measures; it depends on the strides of B.

    python3 benches/gpu/few.py target/debug/tinymlir-opt sm_90 benches/gpu/out

Writes few_SIZE.ptx, and few.txt with a line a product: size, kernel, blocks, threads. benches/gpu/build runs it.
"""

import os
import re
import subprocess
import sys

from choices import SHAPES, function, label

# Sizes that fill no block, besides those that are timed.
ODD = [shape for m in (1, 4, 8) for shape in ((m, 77, 100, False), (m, 76, 101, True))]
FEW = ODD + [shape for shape in SHAPES if shape[0] <= 8]


def main():
    opt, chip, out = sys.argv[1:]
    call = lambda text, *flags: subprocess.run([opt, "-", *flags], input=text, capture_output=True, text=True, check=True).stdout
    with open(os.path.join(out, "few.txt"), "w") as list_of_kernels:
        for shape in FEW:
            module = call(function(*shape), f"--tinymlir-gpu-outline=schedule=fast chip={chip}")
            kernel, blocks, threads = re.search(r"@(matmul_skinny\w*) blocks in \(%(\w+), .*? threads in \(%(\w+),", module).groups()
            size = lambda name: re.search(rf"%{name} = arith.constant (\d+) : index", module)[1]
            print(label(*shape), kernel, size(blocks), size(threads), file=list_of_kernels)
            lowered = call(module, f"--tinymlir-lower-gpu=chip={chip}")
            text = re.search(r"assembly = \"((?:[^\"\\]|\\.)*)\"", lowered)[1]
            with open(os.path.join(out, f"few_{label(*shape)}.ptx"), "w") as file:
                file.write(re.sub(r"\\([0-9A-Fa-f]{2})", lambda c: chr(int(c[1], 16)), text).rstrip("\0"))


if __name__ == "__main__":
    main()
