"""One child process and what it cost: CPU seconds and peak memory of the process and of what it started.

Knows no command of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import EvaluatorError

_LAUNCHER = """
import os, sys
report, *command = sys.argv[1:]
pid = os.posix_spawnp(command[0], command, os.environ)
_, status, usage = os.wait4(pid, 0)
with open(report, "w") as file:
    file.write(f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
"""
"""Starts the command from a small process: Linux counts the memory of whoever forks as the child's own peak."""

TICK = os.sysconf("SC_CLK_TCK")
POLL = 0.002  # seconds between two looks at a file
LAST_WORDS = 800  # bytes of a failed command's stderr that are shown


@dataclass(frozen=True, slots=True)
class Cost:
    """What a finished process used."""

    cpu: float  # seconds, user and system
    wall: float  # seconds
    rss: int  # bytes, peak resident set
    output: bytes  # stdout
    errors: bytes  # stderr


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end. Raises EvaluatorError with its last words unless it exits with 0."""
    start = time.monotonic()
    with tempfile.NamedTemporaryFile() as report:
        done = subprocess.run(  # noqa: S603  (our own commands, no shell)
            [sys.executable, "-c", _LAUNCHER, report.name, *command],
            capture_output=True,
            check=False,
            env={**os.environ, **(environment or {})},
        )
        wall = time.monotonic() - start
        used = report.read().split()
    if done.returncode:
        said = done.stderr[-LAST_WORDS:].decode(errors="replace")
        raise EvaluatorError(f"{' '.join(command)}: exit {done.returncode}: {said}")
    return Cost(float(used[0]), wall, int(used[1]) * 1024, done.stdout, done.stderr)


def evaluator_command(*arguments: str | Path) -> list[str]:
    """This evaluator's command line in a process of its own."""
    return [sys.executable, "-m", "evaluator", *map(str, arguments)]


def until(command: Sequence[str], happened: Callable[[], bool]) -> float:
    """CPU seconds of a command up to the moment when something has happened; then waits for its end.

    Raises EvaluatorError if it ends without.
    """
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    used = None
    while process.poll() is None:
        if used is None and happened():
            used = _cpu_so_far(process.pid)
        time.sleep(POLL)
    if used is None:
        raise EvaluatorError(f"{' '.join(command)}: exit {process.returncode} before anything was seen")
    return used


def _cpu_so_far(pid: int) -> float:
    """CPU seconds of a running process, to the clock tick: user and system time of its stat line."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK
