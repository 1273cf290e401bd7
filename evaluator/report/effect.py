"""How much one metric differs between two sides, unit by unit, and how sure that is.

Knows values and directions; knows no record, no run and no other metric. Correcting for several tests is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from evaluator.metrics.base import Direction
from evaluator.stats.bootstrap import Interval, Method, mean_interval, mean_p
from evaluator.stats.paired import cliffs_delta, cohen_dz, permutation_p, wilcoxon_p
from evaluator.stats.preference import TIE

Test = Literal["permutation", "wilcoxon", "bootstrap"]
LEVEL = 0.05
FEW_UNITS = 10
"""Below this many independent units a bootstrap cannot see how much they vary."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person may choose about a comparison."""

    interval: Method = "percentile"
    test: Test = "permutation"
    top: int = 5  # units to list per metric
    allow: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """One unit with its value on both sides; pairs with the same origin are not independent."""

    case: str
    origin: str
    first: float
    second: float

    @property
    def delta(self) -> float:
        """Second minus first."""
        return self.second - self.first


@dataclass(frozen=True, slots=True)
class Effect:
    """One metric of one suite: second side minus first, over the units that have a value in both.

    `better`, `ties`, `worse` count units in the good direction, equal within 1e-6; None for a metric that is a fact.
    `moves` are the units that got worse most; for a fact, those that moved most. `interval` and `p` (two-sided) are
    clustered by origin; `p_holm` is corrected over all tests of a call.
    """

    suite: str
    metric: str
    unit: str
    direction: Direction
    pairs: int
    clusters: int
    first: float
    second: float
    difference: float
    interval: Interval | None
    p: float | None
    p_holm: float | None
    dz: float | None
    cliffs_delta: float | None
    better: int | None
    ties: int
    worse: int | None
    moves: tuple[Pair, ...]

    @property
    def verdict(self) -> str:
        """What may be claimed at 5 %: better, worse, changed (a fact), or nothing."""
        if self.p_holm is None or self.p_holm > LEVEL:
            return ""
        if self.direction is Direction.NONE:
            return "changed"
        return "better" if (self.difference > 0) == (self.direction is Direction.HIGHER) else "worse"


def measure(
    suite: str, metric: str, unit: str, direction: Direction, pairs: Sequence[Pair], settings: Settings
) -> Effect:
    """The effect over at least one pair, its p value not corrected yet."""
    deltas, groups = [pair.delta for pair in pairs], [pair.origin for pair in pairs]
    first, second = [pair.first for pair in pairs], [pair.second for pair in pairs]
    better, ties, worse = _counts(deltas, direction)
    return Effect(
        suite,
        metric,
        unit,
        direction,
        pairs=len(pairs),
        clusters=len(set(groups)),
        first=fmean(first),
        second=fmean(second),
        difference=fmean(deltas),
        interval=mean_interval(deltas, seed=settings.seed, groups=groups, method=settings.interval),
        p=_p(deltas, groups, settings),
        p_holm=None,
        dz=cohen_dz(deltas),
        cliffs_delta=cliffs_delta(first, second),
        better=better,
        ties=ties,
        worse=worse,
        moves=_most(pairs, direction, settings.top),
    )


def _p(deltas: Sequence[float], groups: Sequence[str], settings: Settings) -> float | None:
    if settings.test == "wilcoxon":
        return wilcoxon_p(deltas, groups)
    if settings.test == "bootstrap":
        return mean_p(deltas, groups, seed=settings.seed)
    return permutation_p(deltas, groups, settings.seed)


def _counts(deltas: Sequence[float], direction: Direction) -> tuple[int | None, int, int | None]:
    """(better, ties, worse)."""
    up, down = sum(delta > TIE for delta in deltas), sum(delta < -TIE for delta in deltas)
    ties = len(deltas) - up - down
    if direction is Direction.NONE:
        return None, ties, None
    return (up, ties, down) if direction is Direction.HIGHER else (down, ties, up)


def _most(pairs: Sequence[Pair], direction: Direction, top: int) -> tuple[Pair, ...]:
    """The units that got worse, worst first; of a fact, those that moved, farthest first."""

    def badness(pair: Pair) -> float:
        return {Direction.HIGHER: -pair.delta, Direction.LOWER: pair.delta, Direction.NONE: abs(pair.delta)}[direction]

    return tuple(sorted((pair for pair in pairs if badness(pair) > TIE), key=badness, reverse=True)[:top])
