"""Assembles the PTX of a lowered module: ptxas.py CHIP < module. Prints a line for each kernel: name, registers, bytes spilled.

Used by tests that say that a kernel fits in its registers.
"""

import re
import subprocess
import sys
import tempfile

chip = sys.argv[1]
texts = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', sys.stdin.read())
if not texts:
    sys.exit("error: the module holds no PTX")
for text in texts:
    ptx = re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), text).rstrip("\0")
    with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
        file.write(ptx)
        file.flush()
        command = ["ptxas", "-arch=" + chip, "-v", file.name, "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit("error: ptxas: " + done.stderr)
    kernel = r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    for name, spilled, registers in re.findall(kernel, done.stderr, re.S):
        print(f"{name}: {registers} registers, {spilled} bytes spilled")
