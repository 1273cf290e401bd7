"""Finds wipes: borders that cross the picture on a straight or round way and leave another shot behind them.

A Radon transform in space and time. A border that travels in a given direction and time passes each point at a known
moment; if it is really there, each point changes more at its moment than at most others. The score is the mean rank of
that change among the point's changes nearby in time, so neither contrast nor how much a shot moves counts. A hard cut
or a dissolve changes all points at once, and so scores as high in every direction: the lead of one direction tells.
Not in CutCraft's reference, which looks for uneven progress on a 4 x 4 grid and loses wipes over moving shots (spec
15.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.media.types import F64
from evaluator.suites.cutcraft.looks import COLUMNS, ROWS, Looks

DURATIONS = (0.17, 0.25, 0.33, 0.42, 0.5, 0.63, 0.75, 0.92, 1.1)
"""Seconds that a wipe may take: CutCraft asks for up to 0.8, its baseline renders 0.25 to 0.4."""

MIN_DIRECTION = 0.2
"""By how much the rank in the best direction beats the median one; cuts and dissolves stay below 0.1."""

MIN_EVIDENCE = 1.03
"""Rank plus that lead. Development shots: wipes from 1.05 up, whatever moves inside one shot up to 1.01."""

MIN_CHANGE = 0.4
"""The sides must be this unlike (see `Looks.change`)."""

MIN_RETURN = 0.2
"""And no two of their frames more alike than this (see `Looks.returns`): a passer-by leaves the scene as it was.

Development shots: 0.06 for a passer-by, 0.7 and more for wipes; this is the geometric middle."""

AROUND = 1.0  # seconds on each side among which a change is ranked
SIDES = 0.2  # seconds before and after whose colours are compared


@dataclass(frozen=True, slots=True)
class Wipe:
    """One wipe; `first` and `last` are the frames in which its border is inside the picture."""

    first: int
    last: int
    rank: float


def wipes(looks: Looks) -> list[Wipe]:
    """All wipes, in order of time, none overlapping another."""
    rank = change_ranks(looks)
    durations = [max(2, looks.frames(seconds)) for seconds in DURATIONS]
    score = border_scores(rank, durations)  # [N, durations, ways]
    best = score.max(axis=2)
    lead = best - np.median(score, axis=2)
    best = np.where((lead >= MIN_DIRECTION) & (best + lead >= MIN_EVIDENCE), best, -1.0)
    found: list[Wipe] = []
    while best.max() > 0:
        middle, which = np.unravel_index(int(best.argmax()), best.shape)
        half = durations[which] // 2
        wipe = Wipe(int(middle) - half, int(middle) + half, float(best[middle, which]))
        best[max(0, wipe.first - half) : wipe.last + half + 1] = -1.0
        changed = looks.change(wipe.first, wipe.last, SIDES) >= MIN_CHANGE
        if changed and looks.returns(wipe.first, wipe.last, AROUND) >= MIN_RETURN:
            found.append(wipe)
    return sorted(found, key=lambda wipe: wipe.first)


def change_ranks(looks: Looks) -> F64:
    """[N, points]: share of a point's changes within AROUND that are smaller than its change at this frame."""
    change = np.zeros(looks.grid.shape[:2])
    change[1:-1] = np.abs(looks.grid[2:] - looks.grid[:-2]).sum(axis=2)
    half, count = looks.frames(AROUND), len(change)
    ranks = [(change[max(0, t - half) : t + half + 1] < change[t]).mean(axis=0) for t in range(count)]
    return np.stack(ranks)


def border_scores(rank: F64, durations: list[int]) -> F64:
    """Mean rank along the way of a border: [N (its middle), durations, ways]; -1 where it would leave the clip."""
    count, points = rank.shape
    score = np.full((count, len(durations), len(WAYS)), -1.0)
    for place, duration in enumerate(durations):
        delay = np.rint((WAYS - 0.5) * duration).astype(np.int64)  # [ways, points]
        reach = int(np.abs(delay).max()) + 1
        for middle in range(reach, count - reach):
            score[middle, place] = rank[middle + delay, np.arange(points)].mean(axis=1)
    return score


def _ways() -> F64:
    """When a border has passed each point, 0 (first) to 1 (last): [ways, points], for eight directions and an iris."""
    y, x = np.meshgrid((np.arange(ROWS) + 0.5) / ROWS, (np.arange(COLUMNS) + 0.5) / COLUMNS, indexing="ij")
    out = np.hypot(x - 0.5, y - 0.5) / np.hypot(0.5, 0.5)
    ways = [x, y, (x + y) / 2, (x + 1 - y) / 2, out]
    return np.stack([way.ravel() for one in ways for way in (one, 1 - one)])


WAYS = _ways()
