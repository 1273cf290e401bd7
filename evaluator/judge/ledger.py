"""The ledger: every call to a judge, in the order in which it finished, in a file that only grows.

Each line is tied to the one before by its hash (`record`), synced to the disk before the answer is used, and found
again by the key of its request. A torn last line (the process was killed while writing) is cut; any other damage is an
error, because an answer that cannot be trusted must not become a score. Only answers that can be read are ever found.

Memory holds one small entry per request, never an answer or a picture. Media go to `media/` beside the file.
Knows records and files; never asks anybody.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import orjson

from evaluator.errors import LedgerError, OutputError
from evaluator.judge.blobs import Blobs
from evaluator.judge.record import START, Call, Opening, Record, from_tree, own_hash, seal, unseal
from evaluator.judge.types import JudgeIdentity, Status

LEDGER = "judge.jsonl"
MEDIA = "media"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the last call with a key stands, and whether it was answered."""

    offset: int
    length: int
    status: Status


class Ledger:
    """A ledger file, open. Thread-safe; one process at a time may write it. Use as a context manager."""

    def __init__(self, path: Path, *, writable: bool = True, keep_media: bool = True) -> None:
        """Read and check the whole file. Raises LedgerError if it is damaged, OutputError if it cannot be written."""
        self.path = path
        self.blobs = Blobs(path.parent / MEDIA)
        self.head, self.count = START, 0
        self.judges: Mapping[str, JudgeIdentity] = {}
        self._keep_media, self._writable = keep_media, writable
        self._places: dict[bytes, _Place] = {}
        self._lock, self._sync_lock = threading.Lock(), threading.Lock()
        self._file = _open(path, writable)
        try:
            self._size = self._scan()
        except BaseException:
            self._file.close()
            raise
        self._synced = self._size
        if writable:
            os.truncate(path, self._size)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Everything appended is on the disk already."""
        self._file.close()

    # ------------------------------------------------------------------------------------------------ reading

    def find(self, key: str) -> Call | None:
        """The last answered call with this key; None if there is none. Failures are never found."""
        place = self._places.get(bytes.fromhex(key))
        if place is None or place.status is not Status.OK:
            return None
        call = self._read(place)
        return call if call.answer.status is Status.OK else None

    def failure(self, key: str) -> Status | None:
        """How the last call with this key failed, if it never succeeded."""
        place = self._places.get(bytes.fromhex(key))
        return None if place is None or place.status is Status.OK else place.status

    def _read(self, place: _Place) -> Call:
        call = from_tree(orjson.loads(os.pread(self._file.fileno(), place.length, place.offset)))
        if not isinstance(call, Call):
            raise LedgerError(f"{self.path}: the file was changed while it was open")
        return call

    def _scan(self) -> int:
        """Fill the index; returns the length of what is whole."""
        offset = 0
        for line, record in _records(self.path):
            self._note(record, offset, line)
            offset += len(line)
        return offset

    def _note(self, record: Record, offset: int, line: bytes) -> None:
        self.head, self.count = own_hash(line), self.count + 1
        if isinstance(record, Opening):
            self.judges = record.judges
            return
        key = bytes.fromhex(record.keys.key)
        known = self._places.get(key)
        if record.status is Status.OK or known is None or known.status is not Status.OK:
            self._places[key] = _Place(offset, len(line), record.status)

    # ------------------------------------------------------------------------------------------------ writing

    def append(self, record: Record, media: Iterable[tuple[str, bytes]] = ()) -> None:
        """Write a record and its media; returns when the record is on the disk.

        Threads that append at the same time share one sync. Raises OutputError if the disk does not take it.
        """
        if not self._writable:
            raise OutputError(f"{self.path}: was opened for reading")
        try:
            if self._keep_media:
                for digest, data in media:
                    self.blobs.put(digest, data)
            end = self._write(record)
            with self._sync_lock:
                if self._synced < end:
                    reached = self._size
                    os.fsync(self._file.fileno())
                    self._synced = reached
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be written ({error.strerror})") from error

    def _write(self, record: Record) -> int:
        with self._lock:
            line, _ = seal(record, self.count, self.head)
            try:
                _write_all(self._file.fileno(), line)
            except OSError:
                os.truncate(self.path, self._size)  # half a line must not meet the next one
                raise
            self._note(record, self._size, line)
            self._size += len(line)
            return self._size


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_records(path: Path) -> Iterator[Record]:
    """All records of a ledger, one at a time. Raises LedgerError at the first line that is not as it was written."""
    return (record for _, record in _records(path))


def _records(path: Path) -> Iterator[tuple[bytes, Record]]:
    head = START
    for number, line in enumerate(whole_lines(path)):
        try:
            record, head = unseal(line, number, head)
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerError(f"{path}:{number + 1}: {error}; move the ledger away to start a new one") from error
        yield line, record


def whole_lines(path: Path) -> Iterator[bytes]:
    """The finished lines of a file; what follows the last newline was never finished."""
    try:
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read ({error.strerror})") from error


def _open(path: Path, writable: bool) -> IO[bytes]:
    """The file, held for this process alone if it is to be written."""
    try:
        if not writable:
            return path.open("rb")
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise LedgerError(f"{path}: cannot be opened ({error.strerror})") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise OutputError(f"{path}: another run is writing it; wait for it or choose another --out") from error
    return file
