"""Write a cache of keys or values, 12 x 1024 x 64 of f32 within 1, as an .npy file. usage: cache.py FILE SEED [FIRST]

Rows from FIRST on are not numbers.
"""

import array
import random
import sys

HEADS, LENGTH, DEPTH = 12, 1024, 64
file, seed, first = sys.argv[1], int(sys.argv[2]), int((sys.argv[3:] or [LENGTH])[0])
numbers = random.Random(seed)
values = array.array("f")
for _ in range(HEADS):
    for row in range(LENGTH):
        drawn = [numbers.uniform(-1, 1) for _ in range(DEPTH)]
        values.extend(drawn if row < first else [float("nan")] * DEPTH)
header = repr({"descr": "<f4", "fortran_order": False, "shape": (HEADS, LENGTH, DEPTH)}).encode()
header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
with open(file, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + values.tobytes())
