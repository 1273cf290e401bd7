"""SHA-256 of files, remembered between runs by what the file system says of a file.

A digest is taken from the memory only if size, modification time, change time and inode are all as they were. The
memory is an optimisation: a broken, foreign or unwritable memory file costs the time of hashing again, nothing else.
Knows nothing about models.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import orjson

from evaluator.errors import PrerequisiteError

Stamp = tuple[int, int, int, int]  # size, mtime_ns, ctime_ns, inode


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
    """Digests of files, kept in memory and in one small JSON file `{path: [[size, mtime, ctime, inode], sha256]}`.

    Several threads and processes may use the same file: it is replaced as a whole and merged before it is replaced.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._known = _read(file)
        self._deferred = 0
        self._dirty = False

    def sha256(self, path: Path, fresh: bool = False) -> str:
        """Digest of a file, read again if `fresh` or if the file is not as it was. Raises PrerequisiteError."""
        try:
            known = self._known.get(_name(path))
            if known is not None and not fresh and known[0] == stamp(path):
                return known[1]
            digest, seen = _hash(path)
        except OSError as error:
            raise PrerequisiteError(f"{path}: cannot be read ({error.strerror})") from error
        self._remember(_name(path), seen, digest)
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
            self._known[key] = (stamp, digest)
            self._dirty = True
            if not self._deferred:
                self._write()

    def _write(self) -> None:
        if self._dirty:
            merged = {**_read(self.file), **self._known}
            _replace(self.file, orjson.dumps(merged, option=orjson.OPT_SORT_KEYS))
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


def _read(file: Path) -> dict[str, tuple[Stamp, str]]:
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
