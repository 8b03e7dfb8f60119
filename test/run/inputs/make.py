"""Write the arrays and files that the runner's tests read. usage: make.py DIR"""

import json
import struct
import sys
import zipfile
from pathlib import Path

out = Path(sys.argv[1])
out.mkdir(parents=True, exist_ok=True)


def npy(values, shape, dtype="<f4", code="f"):
    """The bytes of an .npy file."""
    header = repr({"descr": dtype, "fortran_order": False, "shape": tuple(shape)}).replace(")}", "), }").encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}{code}", *values)


def safetensors(header, data, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


four = [0.5, -1.0, 2.0, 4.0]
a, b = npy(four, [4]), npy([1.0, 2.0, 3.0, 4.0], [4])
files = {
    "a.npy": a,
    "b.npy": b,
    # The product of the sum and b, as named.mlir computes it.
    "right.npy": npy([1.5, 2.0, 15.0, 32.0], [4]),
    "wrong.npy": npy([1.5, 2.0, 15.5, 32.0], [4]),
    "nan.npy": npy([float("nan"), 0.0, 0.0, 0.0], [4]),
    "five.npy": npy(four + [0.0], [5]),
    "f64.npy": npy(four, [4], "<f8", "d"),
    "object.npy": npy([], [4], "|O"),
    "named.safetensors": safetensors(
        {
            "first": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
            "second": {"dtype": "F32", "shape": [4], "data_offsets": [16, 32]},
        },
        a[-16:] + b[-16:],
    ),
    "long.safetensors": safetensors({}, b"", 10**15),
    "short.safetensors": safetensors({"first": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}, bytes(8)),
    "shape.safetensors": safetensors({"first": {"dtype": "F32", "shape": [5], "data_offsets": [0, 16]}}, bytes(16)),
    "json.safetensors": safetensors(b'{"first": ', b""),
}
for name, data in files.items():
    (out / name).write_bytes(data)
with zipfile.ZipFile(out / "both.npz", "w") as archive:
    archive.writestr("a.npy", a)
    archive.writestr("b.npy", b)
