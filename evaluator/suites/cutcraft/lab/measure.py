"""What both profiles find in one lab clip: the file goes through the same decoding pass as in a run.

`paper` sees TransNetV2's own windows, `compat` the reference's; both know the true place of the cut only to look up
what was found there, as D2 and D3 do with aligned shots. `compat` cannot use the judge and the separated stems that the
reference has besides: what it answers here is what its signals alone decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.experts.features import ShotScores
from evaluator.experts.transnetv2 import TransNetV2
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import Audio, ClipInfo, Frames
from evaluator.runtime.session import SessionSource
from evaluator.schema import AudioView, ExpertNeed, View
from evaluator.suites.cutcraft import ambience, reference_shots, sound_bridge, transitions
from evaluator.suites.cutcraft.flags import COMPAT, PAPER
from evaluator.suites.cutcraft.lab.recipe import CUT, Recipe
from evaluator.suites.cutcraft.looks import PICTURES

NEAR = 1.0
"""Seconds around the cut in which D2 looks for a transition (spec 7)."""
NONE = "none"
"""What is written where a profile found nothing."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one profile says about one clip."""

    optical: str
    cut: float | None  # seconds at which the change was found
    begin: float | None  # seconds
    end: float | None  # seconds
    others: int  # transitions found elsewhere, where there are none
    relation: str
    offset: float | None  # seconds, if the profile measures one


def measure(path: Path, recipe: Recipe, sessions: SessionSource, pictures: bool = True) -> dict[str, Answer]:
    """Answers of both profiles; with `pictures` off only the sound is looked at, which is a hundred times cheaper."""
    info = probe(path)
    views = [PICTURES, reference_shots.GRAY, reference_shots.GRAY_SMALL] if pictures else []
    taps: list[tuple[View, Any]] = [(view, CollectTap(info)) for view in views]
    shot_taps = [_shot_tap(sessions, info, defects.windows) for defects in (PAPER, COMPAT)] if pictures else []
    rate = AudioView(sound_bridge.RATE)
    sounds, _ = decode(path, info, [*taps, *shot_taps], [rate])
    relations = _relations(sounds[rate], info)
    if not pictures:
        return {name: Answer(NONE, None, None, None, 0, *relations[name]) for name in relations}
    frames: list[Frames] = [tap.close() for _, tap in taps]
    scores: list[ShotScores] = [tap.close() for _, tap in shot_taps]
    return {
        "paper": Answer(*_paper(frames[0], scores[0]), *relations["paper"]),
        "compat": Answer(*_compat(frames[1], frames[2], scores[1]), *relations["compat"]),
    }


def _shot_tap(sessions: SessionSource, info: ClipInfo, windows: str) -> tuple[View, Any]:
    expert, want = TransNetV2(sessions), ExpertNeed("shot_boundaries", options=(("windows", windows),))
    return expert.view(want), expert.tap(want, info)


def _paper(pictures: Frames, scores: ShotScores) -> tuple[str, float | None, float | None, float | None, int]:
    found = transitions.transitions(pictures, scores)
    near = [one for one in found if abs(one.cut - CUT) < NEAR]
    if not near:
        return NONE, None, None, None, len(found)
    best = min(near, key=lambda one: abs(one.cut - CUT))
    return best.optical, best.cut, best.start, best.end, len(found) - 1


def _compat(
    gray: Frames, small: Frames, scores: ShotScores
) -> tuple[str, float | None, float | None, float | None, int]:
    detection = reference_shots.detect(gray, small, scores)
    near = [one for one in detection.transitions if abs(detection.start(one) - CUT) < NEAR]
    if not near:
        return NONE, None, None, None, len(detection.transitions)
    begin, end = near[0].first / scores.rate, near[0].last / scores.rate
    return near[0].optical, (begin + end) / 2, begin, end, len(detection.transitions) - 1


def _relations(sound: Audio, info: ClipInfo) -> dict[str, tuple[str, float | None]]:
    bridge = sound_bridge.bridge(sound, CUT, (0.0, CUT), (CUT, info.duration))
    rule = ambience.ambience(sound, CUT)
    return {"paper": (bridge.relation or NONE, bridge.offset), "compat": (rule.relation or NONE, None)}
