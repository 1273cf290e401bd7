"""What a run tells about itself while it goes: a log for machines, counters, and progress for people.

A stage is charged the CPU time of its thread, and what it moved between host and device memory.
Nothing in here ever reaches a score. Times are CPU seconds of the thread that did the work.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import orjson
from tqdm import tqdm
from typing_extensions import TypedDict

from evaluator.runtime.traffic import Traffic
from evaluator.schema import to_tree

PROGRESS_SECONDS = 30.0
"""Between two progress lines when nobody watches a terminal."""


class Spent(TypedDict, total=False):
    """What a run did and what that took; nothing before it has ended."""

    counters: dict[str, int]  # files opened, decoding passes, frames decoded and converted ...
    cpu_seconds: dict[str, float]  # stage -> of the threads that worked on it
    traffic: dict[str, dict[str, int]]  # account -> bytes and pictures between host and device memory


class Telemetry:
    """Thread-safe counters, CPU seconds per stage, and `log.jsonl`."""

    def __init__(self, log: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._inner = threading.local()  # .seconds: of the stages that ended inside the current one
        self._log = log.open("ab") if log else None
        self.counters: Counter[str] = Counter()
        self.traffic = Traffic()
        self.seconds: dict[str, float] = {}

    def count(self, name: str, amount: int = 1) -> None:
        """Add to a counter."""
        with self._lock:
            self.counters[name] += amount

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Charge the block's CPU time and traffic, in this thread, to a stage; a stage inside it keeps its own."""
        start, outer = time.thread_time(), getattr(self._inner, "seconds", 0.0)
        self._inner.seconds = 0.0
        try:
            with self.traffic.charged(name):
                yield
        finally:
            whole = time.thread_time() - start
            own = whole - self._inner.seconds
            self._inner.seconds = outer + whole
            with self._lock:
                self.seconds[name] = self.seconds.get(name, 0.0) + own

    def add(
        self, counters: Mapping[str, int], seconds: Mapping[str, float], traffic: Mapping[str, Mapping[str, int]]
    ) -> None:
        """What another process counted of the same run."""
        with self._lock:
            self.counters.update(counters)
            for name, amount in seconds.items():
                self.seconds[name] = self.seconds.get(name, 0.0) + amount
        for name, kinds in traffic.items():
            for kind, amount in kinds.items():
                self.traffic.add(name, kind, amount)

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        """Append one line to the log."""
        if self._log is None:
            return
        line = {"ts": round(time.time(), 3), "level": level, "event": event, **fields}
        with self._lock:
            self._log.write(orjson.dumps(to_tree(line), option=orjson.OPT_APPEND_NEWLINE))
            self._log.flush()

    def facts(self) -> Spent:
        """Counters, seconds and traffic for the run header."""
        with self._lock:
            seconds = {name: round(value, 3) for name, value in sorted(self.seconds.items())}
            spent = Spent(counters=dict(sorted(self.counters.items())), cpu_seconds=seconds)
        if moved := self.traffic.facts():
            spent["traffic"] = moved
        return spent

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()


class Progress:
    """Cases done of cases to do: a bar on a terminal, a line every PROGRESS_SECONDS elsewhere, nothing when quiet.

    The line comes from a thread of its own: one long clip must not look like a hang. Safe for several workers.
    """

    def __init__(
        self, total: int, done: int = 0, quiet: bool = False, stream: TextIO | None = None, what: str = "cases"
    ) -> None:
        self._stream = stream or sys.stderr
        self._what = what
        self._total, self._done, self._first, self._failed = total, done, done, 0
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._bar: Any = None
        if quiet:
            return
        if self._stream.isatty():
            self._bar = tqdm(total=total, initial=done, unit=f" {what}", file=self._stream, smoothing=0.1, delay=0.5)
        else:
            threading.Thread(target=self._talk, daemon=True).start()

    def advance(self, failed: int = 0) -> None:
        """One more is done; `failed` of its metrics have no result because of an error."""
        with self._lock:
            self._done += 1
            self._failed += failed
            if self._bar is not None:
                self._bar.update()
                if failed:
                    self._bar.set_postfix(failed=self._failed)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._closed.set()
        if self._bar is not None:
            self._bar.close()

    def _talk(self) -> None:
        while not self._closed.wait(PROGRESS_SECONDS):
            print(self._line(), file=self._stream, flush=True)

    def _line(self) -> str:
        with self._lock:
            done, failed = self._done, self._failed
        rate = (done - self._first) / (time.monotonic() - self._start)
        left = f", {(self._total - done) / rate:.0f} s left" if rate else ""
        return f"{done}/{self._total} {self._what}, {rate:.2f}/s{left}, {failed} failed metrics"
