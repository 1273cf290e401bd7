"""Every media file of a manifest opened and measured once, before hours of work depend on it.

Finds files that do not decode and files of the wrong kind (a sound where a clip is needed). Scores nothing. Clips are
measured by `evaluator.media.probe`; a picture is read by Pillow, which also verifies its checksums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from evaluator.errors import MediaError
from evaluator.manifest.loader import Manifest
from evaluator.manifest.problems import Problem, shown
from evaluator.media.probe import probe
from evaluator.media.types import ClipInfo
from evaluator.schema import Case


@dataclass(frozen=True, slots=True)
class Facts:
    """Sums over the distinct files of a manifest that could be read. A file that several cases share counts once."""

    clips: int  # files with a video stream
    images: int
    with_sound: int  # clips that have an audio stream
    without_sound: int
    sounds: int  # files with an audio stream only
    frames: int
    seconds: float  # of clips and sounds


@dataclass(frozen=True, slots=True)
class Report:
    """What `check` found: problems worded like those of the manifest, at the first line that uses the file."""

    problems: tuple[str, ...]
    facts: Facts


@dataclass(frozen=True, slots=True)
class _Picture:
    """What is known of an image file: width and height in pixels."""

    size: tuple[int, int]


Opened = ClipInfo | _Picture | MediaError
Use = tuple[Path, str]
"""(file, what it is used as: "video", "audio" or "image")"""

_EXPECTED = {"image": "a picture", "video": "a clip with a video stream", "audio": "a file with an audio stream"}


def check(manifest: Manifest) -> Report:
    """Open every distinct media file of a manifest once. An unusable file is a problem, never an exception."""
    uses = _first_uses(manifest)
    opened: dict[Path, Opened] = {}
    for path, kind in uses:
        if path not in opened:
            opened[path] = _open(path, kind)
    wrong = [(where, path, kind) for (path, kind), where in uses.items() if not _fits(opened[path], kind)]
    problems = [Problem(*where, _EXPECTED[kind], _found(path, opened[path])) for where, path, kind in wrong]
    return Report(tuple(problem.shown(shown(str(manifest.path))) for problem in problems), _facts(opened.values()))


def _first_uses(manifest: Manifest) -> dict[Use, tuple[int, str]]:
    """Use -> (line, field) where it comes first."""
    uses: dict[Use, tuple[int, str]] = {}
    for line, case in zip(manifest.lines, manifest.cases, strict=True):
        for field, use in _media(case):
            uses.setdefault(use, (line, field))
    return uses


def _media(case: Case) -> Iterator[tuple[str, Use]]:
    yield "video", (case.video, "video")
    if case.source is not None:
        yield "source", (case.source, "video")
    for index, item in enumerate(case.references):
        yield f"references[{index}].path", (item.path, item.kind)


def _open(path: Path, kind: str) -> Opened:
    try:
        return _picture(path) if kind == "image" else probe(path)
    except MediaError as error:
        return error


def _picture(path: Path) -> _Picture:
    """Read an image file without decoding its pixels. Raises MediaError."""
    try:
        with Image.open(path) as image:
            image.verify()
            return _Picture(image.size)
    except Exception as error:  # Pillow's readers raise whatever a damaged file drives them to
        raise MediaError("unreadable_image", f"Pillow cannot read it: {error}") from error


def _fits(opened: Opened, kind: str) -> bool:
    if isinstance(opened, ClipInfo):
        moves = opened.video is not None and not opened.container.endswith("_pipe")  # FFmpeg's name for a still picture
        return (kind == "video" and moves and not opened.damaged) or (kind == "audio" and opened.audio is not None)
    return kind == "image" and isinstance(opened, _Picture)


def _found(path: Path, opened: Opened) -> str:
    name = shown(path.name)
    if isinstance(opened, MediaError):
        return f"{name}, which cannot be used ({opened.code}: {shown(' '.join(str(opened).split()))})"
    if isinstance(opened, _Picture):
        return f"{name}, a picture of {opened.size[0]} x {opened.size[1]} pixels"
    if opened.video is not None and opened.container.endswith("_pipe"):
        return f"{name}, a picture of {opened.video.width} x {opened.video.height} pixels"
    if opened.damaged:
        what, code, why = opened.damaged[0]
        return f"{name}, whose {what} cannot be used ({code}: {shown(' '.join(why.split()))})"
    streams = [name for name, stream in (("video", opened.video), ("audio", opened.audio)) if stream is not None]
    return f"{name}, which holds {' and '.join(streams) or 'neither video nor audio'}"


def _facts(opened: Iterable[Opened]) -> Facts:
    files = list(opened)
    infos = [item for item in files if isinstance(item, ClipInfo)]
    clips = [info.video for info in infos if info.video is not None]
    sound = sum(info.video is not None and info.audio is not None for info in infos)
    return Facts(
        clips=len(clips),
        images=sum(isinstance(item, _Picture) for item in files),
        with_sound=sound,
        without_sound=len(clips) - sound,
        sounds=sum(info.video is None and info.audio is not None for info in infos),
        frames=sum(clip.frames for clip in clips),
        seconds=sum(info.duration for info in infos),
    )
