"""Runs a command with its standard output and error on a terminal and prints what it shows there.

A line that is drawn over is a line. Exits as the command does."""

import os
import pty
import sys


def shown(terminal):
    return os.read(terminal, 65536).replace(b"\r", b"\n")


os.environ.setdefault("TERM", "xterm")
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], shown)))
