"""Token ids for a padded module, and a check of its logits, with Python's own library alone.

usage: logits.py ids REFERENCE.npz POSITIONS OUT.npy
       logits.py compare REFERENCE.npz LOGITS.npy TOLERANCE
"""

import ast
import io
import struct
import sys
import zipfile


def array(file):
    """Shape and elements of an array in a .npy stream."""
    magic = file.read(8)
    size = struct.unpack("<H" if magic[6] == 1 else "<I", file.read(2 if magic[6] == 1 else 4))[0]
    header = ast.literal_eval(file.read(size).decode())
    kind = {"<i4": "i", "<f4": "f", "<f8": "d"}[header["descr"]]
    data = file.read()
    return header["shape"], struct.unpack("<%d%s" % (len(data) // struct.calcsize(kind), kind), data)


def member(npz, key):
    with zipfile.ZipFile(npz) as archive:
        return array(io.BytesIO(archive.read(key + ".npy")))


if sys.argv[1] == "ids":
    ids = list(member(sys.argv[2], "input_ids")[1])
    ids += [0] * (int(sys.argv[3]) - len(ids))
    header = ("{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(ids)).ljust(117) + "\n"
    with open(sys.argv[4], "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        out.write(struct.pack("<%di" % len(ids), *ids))
else:
    shape, expected = member(sys.argv[2], "logits")
    with open(sys.argv[3], "rb") as file:
        _, logits = array(file)
    largest = max(abs(a - b) for a, b in zip(logits, expected))
    print("%d rows: largest difference %.3e" % (shape[0], largest))
    sys.exit(largest > float(sys.argv[4]))
