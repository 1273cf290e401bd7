"""Where one shot gives way to the next and how: dimensions A1, B1 and D2 of CutCraft, profile `paper`.

TransNetV2 finds cuts and most dissolves; it does not see wipes and sees a flash as nothing, one cut or two (spec 15.4).
So flashes and wipes are found by what they are, physically, and what is left of TransNetV2's transitions is told apart
by how suddenly the colours change, which holds over moving shots where frame differences do not (spec 15.5). No
threshold knows how many shots were asked for. The reference code's way is `reference_shots` and `reference_optical`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaluator.experts.features import ShotScores
from evaluator.media.types import F64, Frames
from evaluator.metrics.shots import runs_above
from evaluator.suites.cutcraft.flashes import flashes
from evaluator.suites.cutcraft.labels import FLASHES, Optical
from evaluator.suites.cutcraft.looks import Looks, looks
from evaluator.suites.cutcraft.wipes import wipes

THRESHOLD = 0.35
"""TransNetV2 probability of a transition (spec 4.1)."""

WEAK = 0.12
"""Probability from which on a transition is believed if the colours change too (the spec's second look)."""

WEAK_CHANGE = 0.5
"""What a weak transition needs (see `Looks.returns`)."""

SUDDEN = 0.55
"""Share of the whole change of colours that a hard cut does in one frame; dissolves stay below 0.4."""

AROUND = 0.5  # seconds on each side that are looked at
PLATEAU = 0.15  # seconds of each side that are taken as the shot itself
SAME = 0.25  # seconds within which two findings are one
RAMP = (0.15, 0.85)  # progress between which a dissolve is measured; its ends are extrapolated


@dataclass(frozen=True, slots=True)
class Transition:
    """One change of shot. Its frames are those in which both shots, or the colour between them, may be seen."""

    first: int  # frame; for a hard cut the last frame of the old shot, as TransNetV2 counts
    last: int  # frame; for a hard cut the same
    start: float  # seconds, time stamp of `first`
    end: float  # seconds, time stamp of `last`
    cut: float  # seconds at which the new shot takes over: its first frame, or the middle of the effect
    optical: Optical
    confidence: float  # 0..1


def transitions(pictures: Frames, scores: ShotScores) -> tuple[Transition, ...]:
    """All transitions of a clip in order of time. `pictures` and `scores` are of every frame."""
    figures = looks(pictures)
    found = [_gradual(figures, one.first, one.last, one.optical, one.evenness) for one in flashes(figures)]
    rest = [
        cut_or_dissolve(figures, first, last, float(scores.probability[first : last + 1].max()))
        for first, last in _runs(figures, scores)
    ]
    cuts = [one for one in rest if one.optical is Optical.HARD_CUT]
    border = [_gradual(figures, one.first, one.last, Optical.WIPE, one.rank) for one in wipes(figures)]
    for one in (*cuts, *border, *rest):  # a passer-by just after a cut looks like a wipe, a cut never does
        _keep(found, one)
    return tuple(sorted(found, key=lambda one: one.cut))


def shots(found: Iterable[Transition], time: F64, end: float, plateaus: bool = False) -> list[tuple[float, float]]:
    """(start, end) in seconds of every shot between transitions; gradual ones are divided in their middle.

    time: [N] seconds of the frames; end: seconds at which the clip ends. D-24: with `plateaus` the white or black of a
    flash counts as a shot, as it does in the reference.
    """
    edges = [float(time[0])]
    for one in found:
        edges += [one.start, one.end] if plateaus and one.optical in FLASHES else [one.cut]
    return [(a, b) for a, b in pairwise([*edges, end]) if b > a]


def cut_or_dissolve(looks: Looks, first: int, last: int, confidence: float) -> Transition:
    """What TransNetV2's run of frames [first, last] is, by the share of the change that its largest step makes."""
    reach = looks.frames(AROUND)
    low, high = max(0, first - reach), min(len(looks.time) - 1, last + reach)
    step, sudden = suddenness(looks, low, high, (first - 2, last + 2))
    if sudden >= SUDDEN:
        cut = float(looks.time[min(step + 1, len(looks.time) - 1)])
        at = float(looks.time[step])
        return Transition(step, step, at, at, cut, Optical.HARD_CUT, confidence)
    begin, end = ramp(looks, low, high)
    return _gradual(looks, begin, end, Optical.DISSOLVE, confidence)


def suddenness(looks: Looks, low: int, high: int, near: tuple[int, int]) -> tuple[int, float]:
    """(frame before the largest step in `near`, its share of the whole change) within frames [low, high].

    Colours and their places are both looked at; the one whose whole change stands out more of its usual steps decides,
    for a share of a change that is no larger than the motion says nothing.
    """
    width, found = looks.frames(PLATEAU), []
    for figure, scale in ((looks.histogram, 1.0), (looks.grid.reshape(len(looks.grid), -1), 1.0 / looks.grid[0].size)):
        part = figure[low : high + 1].astype(np.float64)
        steps = np.abs(np.diff(part, axis=0)).sum(axis=1) * scale
        begin = max(0, near[0] - low)
        step = begin + int(steps[begin : near[1] - low + 1].argmax())
        before, after = part[max(0, step - width) : step + 1], part[step + 1 : step + 2 + width]
        whole = float(np.abs(before.mean(axis=0) - after.mean(axis=0)).sum()) * scale
        far = float(np.abs(part[:width].mean(axis=0) - part[-width:].mean(axis=0)).sum()) * scale
        found.append((far / max(float(np.median(steps)), 1e-9), low + step, float(steps[step]) / max(whole, far, 1e-9)))
    _, step, share = max(found)
    return step, share


def ramp(looks: Looks, low: int, high: int) -> tuple[int, int]:
    """First and last frame of a blend somewhere inside [low, high], from the straight part of its progress."""
    progress = _progress(looks, low, high)
    bounds = [int(np.flatnonzero(progress >= level)[0]) for level in RAMP]
    early, late = bounds[0], max(bounds)
    outside = (late - early) * RAMP[0] / (RAMP[1] - RAMP[0])
    return max(low, round(low + early - outside)), min(high, round(low + late + outside))


def _progress(looks: Looks, low: int, high: int) -> F64:
    """How far coarse colours have gone from the shot before to that after [high - low + 1], 0..1."""
    grid = looks.grid[low : high + 1].reshape(high - low + 1, -1).astype(np.float64)
    width = min(looks.frames(PLATEAU), max(1, len(grid) // 4))
    before, after = grid[:width].mean(axis=0), grid[-width:].mean(axis=0)
    way = after - before
    progress: F64 = np.clip((grid - before) @ way / max(float(way @ way), 1e-9), 0.0, 1.0)
    progress[-1] = 1.0
    return progress


def _runs(looks: Looks, scores: ShotScores) -> list[tuple[int, int]]:
    """TransNetV2's transitions, and weak ones where the colours change; none at the very ends of the clip."""
    inside = len(scores.probability) - 2
    found = []
    for first, last in runs_above(scores.probability, WEAK):
        strong = float(scores.probability[first : last + 1].max()) > THRESHOLD
        reach = looks.frames(AROUND)
        changed = strong or looks.returns(first - reach, last + reach, PLATEAU) >= WEAK_CHANGE
        if first <= inside and last > 0 and changed:
            found.append((first, last))
    return found


def _gradual(looks: Looks, first: int, last: int, optical: Optical, confidence: float) -> Transition:
    start, end = float(looks.time[first]), float(looks.time[last])
    return Transition(first, last, start, end, (start + end) / 2, optical, confidence)


def _keep(found: list[Transition], new: Transition) -> None:
    """Add a transition unless it is one that was found before it."""
    if not any(new.start <= old.end + SAME and new.end >= old.start - SAME for old in found):
        found.append(new)
