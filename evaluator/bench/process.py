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
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(  # noqa: S603  (our own commands, no shell)
            command, stdout=out, stderr=err, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = time.monotonic() - start
        for stream in (out, err):
            stream.seek(0)
        output, errors = out.read(), err.read()
    if process.returncode:
        said = errors[-LAST_WORDS:].decode(errors="replace")
        raise EvaluatorError(f"{' '.join(command)}: exit {process.returncode}: {said}")
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss * 1024, output, errors)


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
