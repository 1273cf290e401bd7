"""SHA-256 of files, remembered between runs by what the file system says of a file.

A digest is taken from the memory only if size, modification time, change time and inode are all as they were. The
memory is an optimisation: a broken, foreign or unwritable memory file costs the time of hashing again, nothing else.
It is bounded: above LIMIT, files that are gone are forgotten, then those that were not asked for the longest. Knows
nothing about models.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import orjson

from evaluator.errors import PrerequisiteError

Stamp = tuple[int, int, int, int]  # size, mtime_ns, ctime_ns, inode
Known = dict[str, tuple[Stamp, str]]
"""Path -> what the file was like, and its SHA-256."""

LIMIT = 100_000
"""Files that are remembered (some 20 MB, read in 0.4 s). A run that asks for more keeps its own."""


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """`EVALUATOR_CACHE`, else `evaluator` under `XDG_CACHE_HOME`, else under `~/.cache`. Not created here."""
    if own := environment.get("EVALUATOR_CACHE"):
        return Path(own)
    base = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", os.sep), ".cache")
    return Path(base) / "evaluator"


def sha256_file(path: Path) -> str:
    """SHA-256 (hex) of a file, read in blocks."""
    return _hash(path)[0]


class DigestCache:
    """Digests of files, kept in memory and in one JSON file `{path: [[size, mtime, ctime, inode], sha256]}`.

    The file is in the order of use, last used last; a process that found everything known writes nothing, and its use
    is not counted. Several threads and processes may use it: it is replaced as a whole, and what this process used is
    merged into what is there.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._known = _read(file)
        self._used: Known = {}
        self._deferred = 0
        self._dirty = False

    def sha256(self, path: Path, fresh: bool = False) -> str:
        """Digest of a file, read again if `fresh` or if the file is not as it was. Raises PrerequisiteError."""
        try:
            name = _name(path)
            known = self._known.get(name)
            if known is not None and not fresh and known[0] == stamp(path):
                self._used[name] = known
                return known[1]
            digest, seen = _hash(path)
        except OSError as error:
            raise PrerequisiteError(f"{path}: cannot be read ({error.strerror})") from error
        self._remember(name, seen, digest)
        return digest

    @contextmanager
    def together(self) -> Iterator[None]:
        """Write the memory file once at the end of the block instead of once per file."""
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1
            with self._lock:
                self._write()

    def _remember(self, key: str, stamp: Stamp | None, digest: str) -> None:
        """Keep a digest unless the file changed while it was read."""
        if stamp is None:
            return
        with self._lock:
            self._known[key] = self._used[key] = (stamp, digest)
            self._dirty = True
            if not self._deferred:
                self._write()

    def _write(self) -> None:
        if self._dirty:
            used = dict(self._used)  # whole at once: other threads go on using
            others = {path: entry for path, entry in _read(self.file).items() if path not in used}
            _replace(self.file, orjson.dumps(_within(others, LIMIT - len(used)) | used))
            self._dirty = False


def stamp(path: Path) -> Stamp | None:
    """What the file system says of a file; None if it is not there."""
    try:
        return _of(path.stat())
    except OSError:
        return None


def _of(stat: os.stat_result) -> Stamp:
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def _hash(path: Path) -> tuple[str, Stamp | None]:
    """The digest, and the stamp that belongs to it: None if the file changed meanwhile."""
    with path.open("rb") as stream:
        before = _of(os.fstat(stream.fileno()))
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        after = _of(os.fstat(stream.fileno()))
    return digest, after if before == after else None


def _within(entries: Known, room: int) -> Known:
    """The last `room` of these entries whose files exist; all of them, unseen, if they are no more than that."""
    if len(entries) <= room:
        return entries
    there = (path for path in reversed(entries) if os.path.exists(path))
    return {path: entries[path] for path in reversed(list(islice(there, max(room, 0))))}


def _read(file: Path) -> Known:
    """What the memory file holds; nothing if it is absent, unreadable or not of our form."""
    try:
        tree = orjson.loads(file.read_bytes())
        return {str(path): (_as_stamp(stamp), str(digest)) for path, (stamp, digest) in tree.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _name(path: Path) -> str:
    """A path as JSON can hold it, also one whose bytes are not UTF-8."""
    return os.fsencode(path.resolve()).decode("utf-8", "backslashreplace")


def _as_stamp(numbers: list[int]) -> Stamp:
    size, mtime, ctime, inode = (int(number) for number in numbers)
    return size, mtime, ctime, inode


def _replace(file: Path, content: bytes) -> None:
    """Write through a temporary file and a rename; where that is impossible, the memory lasts for this process."""
    name = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f"{file.name}.", delete=False) as stream:
            name = stream.name
            stream.write(content)
        os.replace(name, file)
    except OSError:
        if name is not None:
            Path(name).unlink(missing_ok=True)
