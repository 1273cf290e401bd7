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
from evaluator.suites.cutcraft import ambience, reference_shots, sound_bridge, sound_likeness, transitions
from evaluator.suites.cutcraft.lab.recipe import CUT
from evaluator.suites.cutcraft.looks import PICTURES

NEAR = 1.0
"""Seconds around the cut in which D2 looks for a transition (spec 7)."""
NONE = "none"
"""What is written where a profile found nothing."""
SOUND = AudioView(sound_likeness.RATE)


@dataclass(frozen=True, slots=True)
class Change:
    """One transition as a profile found it."""

    cut: float  # seconds: by `paper` when the new shot takes over, by `compat` the middle of the run
    start: float  # seconds
    end: float  # seconds
    optical: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one profile says about one clip of the lab."""

    optical: str
    cut: float | None  # seconds at which the change was found
    begin: float | None  # seconds
    end: float | None  # seconds
    others: int  # transitions found elsewhere, where there are none
    relation: str
    offset: float | None  # seconds, if the profile measures one


def measure(path: Path, sessions: SessionSource, pictures: bool = True) -> dict[str, Answer]:
    """Answers of both profiles; with `pictures` off only the sound is looked at, which is a hundred times cheaper."""
    info = probe(path)
    changes, sound = look(path, info, sessions) if pictures else ({"paper": [], "compat": []}, hear(path, info))
    bridge = sound_bridge.bridge(sound, CUT, (0.0, CUT), (CUT, info.duration))
    rule = ambience.ambience(sound, CUT)
    return {
        "paper": _answer(changes["paper"], _nearest(changes["paper"]), bridge.relation or NONE, bridge.offset),
        "compat": _answer(changes["compat"], _first(changes["compat"]), rule.relation or NONE, None),
    }


def look(path: Path, info: ClipInfo, sessions: SessionSource) -> tuple[dict[str, list[Change]], Audio]:
    """Transitions by profile, and the sound, of one file in one pass."""
    views: list[View] = [PICTURES, reference_shots.GRAY, reference_shots.GRAY_SMALL]
    taps: list[tuple[View, Any]] = [(view, CollectTap(info)) for view in views]
    shot_taps = [_shot_tap(sessions, info, windows) for windows in ("overlapping", "disjoint")]
    sounds, _ = decode(path, info, [*taps, *shot_taps], [AudioView(SOUND.rate, missing="silence")])
    small, gray, grayer = (tap.close() for _, tap in taps)
    own, disjoint = (tap.close() for _, tap in shot_taps)
    return {"paper": _paper(small, own), "compat": _compat(gray, grayer, disjoint)}, next(iter(sounds.values()))


def hear(path: Path, info: ClipInfo) -> Audio:
    """The sound of a file."""
    return decode(path, info, [], [SOUND])[0][SOUND]


def _shot_tap(sessions: SessionSource, info: ClipInfo, windows: str) -> tuple[View, Any]:
    expert, want = TransNetV2(sessions), ExpertNeed("shot_boundaries", options=(("windows", windows),))
    return expert.view(want), expert.tap(want, info)


def _paper(pictures: Frames, scores: ShotScores) -> list[Change]:
    found = transitions.transitions(pictures, scores)
    return [Change(one.cut, one.start, one.end, one.optical) for one in found]


def _compat(gray: Frames, small: Frames, scores: ShotScores) -> list[Change]:
    detection = reference_shots.detect(gray, small, scores)
    spans = [(one.first / scores.rate, one.last / scores.rate, one.optical) for one in detection.transitions]
    return [Change((start + end) / 2, start, end, optical) for start, end, optical in spans]


def _nearest(found: list[Change]) -> Change | None:
    """How `paper` looks up the transition of a cut."""
    near = [one for one in found if abs(one.cut - CUT) < NEAR]
    return min(near, key=lambda one: abs(one.cut - CUT)) if near else None


def _first(found: list[Change]) -> Change | None:
    """How `compat` does (D-17)."""
    return next((one for one in found if abs(one.start - CUT) < NEAR), None)


def _answer(found: list[Change], here: Change | None, relation: str, offset: float | None) -> Answer:
    if here is None:
        return Answer(NONE, None, None, None, len(found), relation, offset)
    return Answer(here.optical, here.cut, here.start, here.end, len(found) - 1, relation, offset)
