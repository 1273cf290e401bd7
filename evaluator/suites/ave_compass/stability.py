"""How much the scores move when the same clips are scored several times (spec 7.11): five runs in the paper.

Published bounds: objective means move by less than 0.01, judged ones by less than one percentage point, which is the
same on a scale of 0..1. Knows records only; which runs belong together is the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from evaluator.schema import Score
from evaluator.stats.repeats import spread
from evaluator.suites.ave_compass.cells import basis
from evaluator.suites.ave_compass.routing import ROUTING

BOUND = 0.01
"""On the scale of 0..1: one point of a percentage."""


@dataclass(frozen=True, slots=True)
class Stability:
    """One metric of one system over repeated runs. `cases` were scored in every run; others do not count."""

    system: str
    metric: str
    evidence: str
    means: tuple[float, ...]  # of each run, 0..1
    cases: int

    @property
    def range(self) -> float:
        """Largest minus smallest mean."""
        return spread(self.means) or 0.0

    @property
    def deviation(self) -> float | None:
        """Standard deviation (n - 1) of the means; None for a single run."""
        return stdev(self.means) if len(self.means) > 1 else None

    @property
    def objective(self) -> bool:
        """Whether no judge is behind it."""
        return self.metric in ROUTING

    @property
    def passes(self) -> bool:
        """Whether the means move by less than the published bound."""
        return self.range < BOUND and not math.isclose(self.range, BOUND)


def stability(runs: Sequence[Sequence[Score]]) -> list[Stability]:
    """Every metric of every system that all runs scored, in the order of the first run."""
    places = [{_place(score): score for score in run if score.value is not None} for run in runs]
    shared = [place for place in places[0] if all(place in other for other in places)] if places else []
    groups: dict[tuple[str, str, str], list[tuple[str, ...]]] = {}
    for place in shared:
        groups.setdefault((place[0], place[1], place[3]), []).append(place)
    return [
        Stability(
            *group, means=tuple(fmean(_value(run[place]) for place in members) for run in places), cases=len(members)
        )
        for group, members in groups.items()
    ]


def _place(score: Score) -> tuple[str, ...]:
    """(system, metric, case, evidence)"""
    return score.system, score.metric, score.case, basis(score).evidence


def _value(score: Score) -> float:
    if score.value is None:
        raise ValueError(f"{score.case}/{score.metric} has no value")
    return score.value
