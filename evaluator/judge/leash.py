"""Run a command that does not outlive its parent: `python leash.py PARENT_PID COMMAND...`.

The kernel sends SIGTERM to the command when the thread that started it ends, even if that was by kill -9. This file is
run by its path, before anything else is imported; it knows nothing about evaluator. Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Tie this process to its parent and become the command."""
    parent, command = int(sys.argv[1]), sys.argv[2:]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        sys.exit(f"prctl failed: {os.strerror(ctypes.get_errno())}")
    if os.getppid() != parent:
        sys.exit("the parent was gone before the command started")
    os.execvp(command[0], command)  # noqa: S606  (no shell is wanted)


if __name__ == "__main__":
    main()
