"""Ours beside the reference project, on the same clips: what both can compute without weights.

    AVE_COMPASS_REFERENCE=/path/to/checkout python -m tests.suites.ave_compass.side_by_side [SOURCE EDITED ...]

Compared: audio_similarity (profile compat; needs the `ffmpeg` program, which the reference calls), the silence rule,
frame sampling, and branches with their metrics. Without clips on the command line the demo clips are used. Nothing of
the reference is part of this project; without a checkout the script says so and leaves with 0, as a skipped test does.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock, patch

import numpy as np

from evaluator.media.decode import decode
from evaluator.media.probe import probe
from evaluator.media.sampling import select
from evaluator.media.types import Audio
from evaluator.metrics.levels import is_silent
from evaluator.schema import AudioView, Sampling
from evaluator.suites.ave_compass import SUITE
from evaluator.suites.ave_compass.branches import compat_objective_branch
from evaluator.suites.ave_compass.preservation import compat_similarity
from evaluator.suites.ave_compass.routing import ROUTING
from tests.conftest import ROOT

VARIABLE = "AVE_COMPASS_REFERENCE"
TOLERANCE = 1e-5
"""Spec 4.10a, audio_similarity."""

DEMO = ROOT / "manifests" / "demo"
EDITED = ("untouched", "sound_replaced", "sound_delayed", "sound_quiet", "stuttering")
SCRIPTS = {
    "ave_f1": "video_quality/video_aesthetic_impl/scripts/batch_video_aesthetic.py",
    "linspace": "video_quality/subject_consistency_impl/scripts/batch_subject_consistency.py",
}
LABELS = ("joint", "speech_edit", "video_only", "audio", "av", "audio_video", "S2.1", "speech_editing", "", "V1")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison."""

    what: str
    ours: object
    theirs: object
    equal: bool


def checkout() -> Path | None:
    """The reference project, if the environment names it."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else None


def compare(reference: Path, pairs: Sequence[tuple[Path, Path]]) -> Iterator[Row]:
    """Every comparison. `pairs` are (source, edited)."""
    sys.path.insert(0, str(reference))
    try:
        utils = importlib.import_module("modules.objective.utils")
        similarity = importlib.import_module("modules.objective.preservation.audio_similarity")
    finally:
        sys.path.remove(str(reference))
    yield from _branches(utils)
    yield from _samplings(reference)
    for source, edited in pairs:
        yield from _sounds(utils, similarity, source, edited)


def _branches(utils: ModuleType) -> Iterator[Row]:
    for label in LABELS:
        branch = compat_objective_branch(label)
        ours = branch, [name for name, branches in ROUTING.items() if branch in branches]
        theirs = utils.normalize_category(label), utils.get_active_metrics(label)
        yield Row(f"branch {label!r}", ours[0], theirs[0], ours[0] == theirs[0] and set(ours[1]) == set(theirs[1]))


def _samplings(reference: Path) -> Iterator[Row]:
    """Every clip of up to 400 frames, with the protocol's numbers of frames and some others."""
    for rule, path in SCRIPTS.items():
        theirs = _script(reference / "modules" / "objective" / path)
        unlike = [
            (frames, count)
            for frames in range(1, 401)
            for count in (1, 2, 8, 10, 50)
            if select(Sampling(rule, (count,)), np.arange(frames) / 25).tolist()
            != theirs.sample_frame_indices(frames, count)
        ]
        yield Row(f"sampling {rule}", "2000 lists", f"{len(unlike)} differ {unlike[:3] or ''}".strip(), not unlike)


def _script(path: Path) -> ModuleType:
    """A script of the reference, imported with nothing in place of the networks that it would load."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a module")
    module = importlib.util.module_from_spec(spec)
    networks = {name: MagicMock() for name in ("torch", "aesthetic_predictor_v2_5")}
    with patch.dict(sys.modules, networks), patch.object(sys, "path", [*sys.path]):
        spec.loader.exec_module(module)
    return module


def _sounds(utils: ModuleType, similarity: ModuleType, source: Path, edited: Path) -> Iterator[Row]:
    ours, theirs = is_silent(_sound(edited)), bool(utils.is_silent_audio(str(edited)))
    yield Row(f"silent {edited.stem}", ours, theirs, ours == theirs)
    with tempfile.TemporaryDirectory() as folder:
        sample = {"source_video_path": str(source), "edited_video_path": str(edited)}
        found: dict[str, Any] = similarity.compute_audio_similarity(sample, {}, Path(folder))
    mine = compat_similarity(_sound(edited), _sound(source))
    close = found["score"] is not None and abs(mine.value - found["score"]) <= TOLERANCE
    lags = mine.details.get("best_lag_frames"), found.get("details", {}).get("best_lag_frames")
    yield Row(
        f"audio_similarity {edited.stem}",
        (mine.value, lags[0]),
        (found["score"], lags[1]),
        close and lags[0] == lags[1],
    )


def _sound(path: Path) -> Audio:
    view = AudioView(16_000)
    return decode(path, probe(path), [], [view])[0][view]


def pairs_of(arguments: Sequence[str]) -> list[tuple[Path, Path]]:
    """(source, edited) from the command line, or the demo clips that have sound."""
    if arguments:
        paths = [Path(argument) for argument in arguments]
        return list(zip(paths[::2], paths[1::2], strict=True))
    source = DEMO / "bigbuckbunny.mp4"
    return [(source, path) for name in EDITED if (path := DEMO / f"{name}.mp4").is_file()] if source.is_file() else []


def main(arguments: Sequence[str]) -> int:
    """Print the comparison; 1 if something differs."""
    reference = checkout()
    if reference is None:
        print(f"skipped: {VARIABLE} names no checkout of the reference project")
        return 0
    rows = list(compare(reference, pairs_of(arguments)))
    for row in rows:
        print(f"{'equal' if row.equal else 'DIFFERS':8}{row.what}: ours {row.ours}, reference {row.theirs}")
    print(f"{sum(row.equal for row in rows)} of {len(rows)} equal, profile {SUITE.profiles[1]}")
    return 0 if all(row.equal for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
