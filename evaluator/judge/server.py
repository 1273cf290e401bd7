"""A judge server as a child: started in a process group of its own, awaited, and taken down to the last process.

Works on any command that answers GET /health on an address; knows nothing about vLLM or questions.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from evaluator.errors import JudgeUnusableError
from evaluator.judge import leash
from evaluator.judge.address import Address
from evaluator.judge.exchange import Exchange, clean

POLL_S = 0.2
GRACE_S = 20.0
"""From SIGTERM to SIGKILL: vLLM frees the GPU and ends its workers in that time."""

TAIL_LINES = 15
"""Last lines of a server's log that a message about its end shows."""


class Server:
    """A running server. Use as a context manager: leaving it stops the whole process group.

    The server also ends with the thread that started it, however that ends.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], address: Address, log: Path) -> None:
        """Start `command`. Its output goes to `log`. Raises JudgeUnusableError if somebody else has the address."""
        _require_free(address)
        self.address = address
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        leashed = [sys.executable, "-I", str(Path(leash.__file__)), str(os.getpid()), *command]
        with log.open("wb") as output:
            self._process = subprocess.Popen(  # noqa: S603  (a list of arguments, no shell)
                leashed,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id, which is also the id of the group."""
        return self._process.pid

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def wait_healthy(self, seconds: float, tell: Callable[[float], object] = lambda _: None) -> None:
        """Return when the server says that it is well; `tell` hears the seconds waited, every few seconds.

        Raises JudgeUnusableError if it ends before, or is not well in time.
        """
        start, told = time.monotonic(), 0.0
        exchange = Exchange(self.address, concurrency=1, seconds=10.0)
        with contextlib.closing(exchange):
            while not exchange.healthy():
                waited = time.monotonic() - start
                self._require_running()
                if waited > seconds:
                    raise JudgeUnusableError(
                        f"the judge server was not ready within {seconds:.0f} s.{self._last_words()}"
                    )
                if waited - told >= 10:
                    told = waited
                    tell(waited)
                time.sleep(POLL_S)
        self._require_running()  # somebody else may answer on this port

    def wait(self) -> int:
        """Block until the server ends by itself; its exit status."""
        return self._process.wait()

    def stop(self, grace: float = GRACE_S) -> None:
        """End the whole group: SIGTERM, after `grace` seconds SIGKILL. Returns when no process of it is left."""
        self._signal(signal.SIGTERM)
        if not self._gone_within(grace):
            self._signal(signal.SIGKILL)
            self._gone_within(grace)

    def alive(self) -> bool:
        """Whether any process of the group still runs."""
        self._process.poll()  # reaps the leader
        return any(_runs_in(self.pid, stat) for stat in Path("/proc").glob("[0-9]*/stat"))

    def _gone_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.alive():
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def _require_running(self) -> None:
        status = self._process.poll()
        if status is not None:
            raise JudgeUnusableError(f"the judge server ended with status {status}.{self._last_words()}")

    def _last_words(self) -> str:
        lines = self.log.read_bytes()[-8192:].decode("utf-8", "replace").splitlines()[-TAIL_LINES:]
        return f" Its last words, from {self.log}:\n" + "\n".join(f"  {clean(line)}" for line in lines)


def _runs_in(group: int, stat: Path) -> bool:
    """Whether the process of a /proc/N/stat file is in a group and has not ended (a zombie has, reaped or not)."""
    try:
        state, _, its_group = stat.read_text(encoding="utf-8", errors="replace").rpartition(") ")[2].split()[:3]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(its_group) == group and state not in "ZX"


def _require_free(address: Address) -> None:
    """Whoever listens there already would be taken for the server that is about to start."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: a port just left is free
        try:
            listener.bind((address.host, address.port))
        except OSError as error:
            raise JudgeUnusableError(f"{address} cannot be used for a judge: {error.strerror}") from error


def free_port() -> int:
    """A loopback port that nobody uses right now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
