"""From sub-metrics to four dimensions, win rates and their correlation with people (sections 3.10 and 6).

The paper's aggregation is not known: unit values of ours, means of those that a sample has. Raw columns come first in
every table; these are for comparisons over samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations

import numpy as np

from evaluator.schema import Case, Score
from evaluator.stats.preference import sign, win_rates
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.preferences import Outcomes
from evaluator.suites.multiref_compass.sls import PUBLISHED

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "Basic Quality": ("vtq", "atq", "aq"),
    "Reference Consistency": ("ef", "dp", "bc"),
    "Audio-Visual Consistency": ("sls", "esm", "sc", "ts"),
    "Instruction Following": ("vtf", "atf", "sca", "tof"),
}
"""Paper names; `preferences` knows the others in use."""
MEMBER = {metric: name for name, metrics in DIMENSIONS.items() for metric in metrics}
"""Sub-metric -> its dimension."""


def _mos(score: Score) -> float:
    return ((score.value or 0.0) - 1.0) / 4.0


UNITS: Mapping[str, Callable[[Score], float]] = {
    "vtq": lambda score: float(score.details["vtq_sigmoid"]),
    "atq": lambda score: (score.value or 0.0) / 10.0,
    "ef": lambda score: score.value or 0.0,
    "sls": lambda score: float(np.clip((score.value or 0.0) / 10.0, 0.0, 1.0)),
    "ts": lambda score: max(0.0, score.value or 0.0),
}


def unit(score: Score) -> float:
    """A record with a value on 0..1."""
    return UNITS.get(score.metric, _mos)(score)


def counts(score: Score) -> bool:
    """Whether a record is part of a dimension: it has a value, and one whose scale is known.

    What stands in for SyncNet in SLS has a scale of its own (`sls`): a tenth of it would be next to nothing.
    """
    published = not any(model.stands_in_for in PUBLISHED.values() for model in score.models)
    return score.value is not None and score.metric in MEMBER and (score.metric != "sls" or published)


Values = dict[tuple[str, str], float]
"""(sample, system) -> value."""


def dimension_values(cases: Sequence[Case], scores: Sequence[Score]) -> dict[str, Values]:
    """Dimension -> mean unit value of the sub-metrics that a sample's output has."""
    samples = {case.id: of(case).sample for case in cases}
    found: dict[str, dict[tuple[str, str], list[float]]] = {name: defaultdict(list) for name in DIMENSIONS}
    for score in scores:
        if counts(score) and score.case in samples:
            found[MEMBER[score.metric]][samples[score.case], score.system].append(unit(score))
    return {name: {key: sum(own) / len(own) for key, own in table.items()} for name, table in found.items()}


def outcomes(values: Values) -> Outcomes:
    """Pairwise outcomes of one dimension: only pairs of which both outputs have a value; closer than 1e-6 is a tie."""
    by_sample: dict[str, dict[str, float]] = defaultdict(dict)
    for (sample, system), value in values.items():
        by_sample[sample][system] = value
    return {
        (sample, first, second): float(sign(np.array([own[first] - own[second]]))[0])
        for sample, own in by_sample.items()
        for first, second in combinations(sorted(own), 2)
    }


def rates(found: Outcomes) -> dict[str, float]:
    """System -> wins / comparisons, a tie half a win."""
    winners = [(first, second, outcome) for (_, first, second), outcome in found.items()]
    return {str(system): rate for system, rate in win_rates(winners).items()}


def correlation(ours: Mapping[str, float], theirs: Mapping[str, float]) -> float | None:
    """Pearson's r of two win-rate vectors over the systems that both have; None for fewer than three or a constant."""
    systems = sorted(ours.keys() & theirs.keys())
    first, second = np.array([[side[name] for name in systems] for side in (ours, theirs)]).reshape(2, -1)
    if len(systems) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return None
    return float(np.corrcoef(first, second)[0, 1])
