"""scores.jsonl: appended as cases finish, safe against a kill at any moment, rewritten in manifest order at the end.

Knows lines and files, not how scores are made.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from evaluator.errors import OutputError
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score, decode_score, encode

SCORES = "scores.jsonl"
SYNC_SECONDS = 5.0
"""Between two syncs while cases keep finishing: what the machine's death (not only the process's) can take."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Record:
    """One score with the line that says it, so that what was read need not be encoded again."""

    score: Score
    line: bytes

    @classmethod
    def of(cls, score: Score) -> Record:
        """A new record."""
        return cls(score, encode(score))

    def labelled(self, system: str) -> Record:
        """The same under another system's name, which no metric looks at."""
        return self if self.score.system == system else Record.of(replace(self.score, system=system))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the output folder for one process. Raises OutputError if another one writes there or it cannot be made."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / ".lock").open("w")
    except OSError as error:
        raise OutputError(f"{folder}: cannot write there ({error.strerror}); choose another --out") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OutputError(f"{folder}: another run is writing there; wait for it or choose another --out") from error
        yield


def read_scores(path: Path) -> dict[Key, Score]:
    """Scores of a file by key, as `read_records` finds them."""
    return {key: record.score for key, record in read_records(path).items()}


def read_records(path: Path) -> dict[Key, Record]:
    """Records of a file by key, the last one wins. Drops a torn last line; another broken one is an OutputError."""
    found: dict[Key, Record] = {}
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise OutputError(f"{path}: cannot be read ({error.strerror}); move it away") from error
    lines = data.split(b"\n")
    for number, line in enumerate(lines[:-1], 1):  # what follows the last newline was never finished
        if not line:
            continue
        try:
            score = decode_score(line)
        except ValueError as error:
            raise OutputError(f"{path}:{number}: {error}; move the file away or run with --fresh") from error
        found[score.key] = Record(score, line + b"\n")
    return found


class ScoreWriter:
    """Appends records; thread-safe. Use as a context manager."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._synced = time.monotonic()
        self._drop_torn_line()
        self._file = path.open("ab")

    def __enter__(self) -> ScoreWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._sync()
        self._file.close()

    def append(self, records: Iterable[Record]) -> None:
        """Write all records of one case in one go, so that a kill loses whole cases and nothing else."""
        data = b"".join(record.line for record in records)
        with self._lock:
            self._file.write(data)
            self._file.flush()
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()

    def _sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()

    def _drop_torn_line(self) -> None:
        if not self._path.exists():
            return
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(self._path, whole)


def write_in_order(path: Path, order: Sequence[Key], records: Mapping[Key, Record]) -> None:
    """Rewrite the file in the order of the plan. Keys without a record (a cancelled run) are left out."""
    write_atomic(path, b"".join(records[key].line for key in order if key in records))
