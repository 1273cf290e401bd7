"""Wheels of a few bytes, and a wheelhouse over a folder of them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from export.fetch import Pin
from tests.runtime.build import sha


def zipped(members: Mapping[str, bytes]) -> bytes:
    """A zip file of these members, the same bytes every time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return stream.getvalue()


def wheel(folder: Path, name: str, members: Mapping[str, bytes], version: str = "1.0") -> Pin:
    """Write an installable wheel and return its pin."""
    stem = f"{name.replace('-', '_')}-{version}"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    described = {
        **members,
        f"{stem}.dist-info/METADATA": metadata.encode(),
        f"{stem}.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{stem}.dist-info/RECORD": b"",
    }
    content = zipped(described)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{stem}-py3-none-any.whl").write_bytes(content)
    return Pin(name, version, sha(content))
