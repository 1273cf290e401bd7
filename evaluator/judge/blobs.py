"""Media beside a ledger, each file named by the SHA-256 of its bytes, so that a person can look at what was judged.

Not synced to the disk one by one, unlike answers: pictures can be made again from the clips, and `verify` notices a
damaged one. Knows bytes only.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from evaluator.errors import LedgerError
from evaluator.runtime.digests import sha256_file


class Blobs:
    """The folder `media/ab/<sha256>`. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, digest: str) -> Path:
        """Where the bytes of a digest are or would be."""
        return self.folder / digest[:2] / digest

    def put(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest, once: equal frames of many questions are one file."""
        path = self.path(digest)
        if path.exists() and path.stat().st_size == len(data):
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{digest}.{os.getpid()}.{threading.get_ident()}.part")
        part.write_bytes(data)
        part.replace(path)

    def get(self, digest: str) -> bytes:
        """The bytes. Raises LedgerError if they are not there or not the ones that were judged."""
        if problem := self.problem(digest):
            raise LedgerError(problem)
        return self.path(digest).read_bytes()

    def problem(self, digest: str) -> str:
        """What is wrong with the file of a digest; empty if nothing is."""
        path = self.path(digest)
        if not path.is_file():
            return f"{path}: the picture or sound that was judged is not there"
        return "" if sha256_file(path) == digest else f"{path}: the content was changed"
