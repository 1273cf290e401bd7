"""Which clips the benchmark measures, and the manifests over them. Knows the suite `core` by name and no metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluator.bench.clips import Recipe, make
from evaluator.manifest import Manifest, Suites, read
from evaluator.suites import suites

SUITE = "core"

SHORT = (
    Recipe("720p24-gop250", 1280, 720, 24, 5.0, 250),
    Recipe("720p24-gop12", 1280, 720, 24, 5.0, 12),
    Recipe("720p30-gop250", 1280, 720, 30, 5.0, 250),
    Recipe("720p30-variable", 1280, 720, 30, 5.0, 250, variable=True),
    Recipe("1080p25-gop250", 1920, 1080, 25, 5.0, 250),
    Recipe("1080p24-gop12", 1920, 1080, 24, 5.0, 12),
)
"""The set of the whole suite. The first clip is the source of the others."""

QUICK = (
    Recipe("720p24-gop250", 1280, 720, 24, 2.0, 250),
    Recipe("720p30-variable", 1280, 720, 30, 2.0, 250, variable=True),
)
LONG = Recipe("1080p24-minute", 1920, 1080, 24, 60.0, 250)
TINY = Recipe("tiny", 320, 180, 24, 1.0, 12)
BRIEF = Recipe("brief", 320, 180, 24, 8 / 24, 12)
"""Eight frames: whatever a process does with them, it is the start that costs."""

Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ClipSet:
    """Clips on disk by the name of their recipe."""

    folder: Path
    recipes: tuple[Recipe, ...]

    def path(self, recipe: Recipe) -> Path:
        """The clip, made if it is not there."""
        return make(recipe, self.folder)

    @property
    def paths(self) -> list[Path]:
        """All clips."""
        return [self.path(recipe) for recipe in self.recipes]


def edits(clips: Sequence[Path]) -> list[Line]:
    """One case per clip; every case but the first has the first clip as its source."""
    first, *others = clips
    return [_case(first), *(_case(clip, source=first) for clip in others)]


def alone(clip: Path, count: int = 1) -> list[Line]:
    """`count` cases of one clip without a source."""
    return [{**_case(clip), "id": f"{clip.stem}-{number:04d}"} for number in range(count)]


def write_manifest(lines: Sequence[Line], path: Path) -> Path:
    """A manifest beside the clips' folder is not needed: paths are relative to `--media-root`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
    return path


def loaded(lines: Sequence[Line], path: Path, root: Path) -> Manifest:
    """The manifest of these lines, written to `path` and read; clips lie in `root`."""
    known: Suites = {SUITE: suites()[SUITE].data}
    return read(write_manifest(lines, path), root, suites=known)


def _case(clip: Path, source: Path | None = None) -> dict[str, Any]:
    line = {"id": clip.stem, "suite": SUITE, "system": "bench", "video": clip.name}
    return {**line, "source": source.name} if source else line
