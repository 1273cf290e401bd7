"""From sub-metrics to four dimensions, win rates and their correlation with people (sections 3.10 and 6).

The paper's aggregation is not known: unit values of ours, means of those that a sample has. Raw columns come first in
every table; these are for comparisons over samples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from evaluator.schema import Case, Score
from evaluator.stats.preference import majority, sign, win_rates
from evaluator.suites.multiref_compass.data import of

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "Basic Quality": ("vtq", "atq", "aq"),
    "Reference Consistency": ("ef", "dp", "bc"),
    "Audio-Visual Consistency": ("sls", "esm", "sc", "ts"),
    "Instruction Following": ("vtf", "atf", "sca", "tof"),
}
"""Paper names; the README calls the second Entity Fidelity and the third Audio-Video Consistency."""
ALIASES = {"Entity Fidelity": "Reference Consistency", "Audio-Video Consistency": "Audio-Visual Consistency"}
SHORT = {
    "BQ": "Basic Quality",
    "RC": "Reference Consistency",
    "AC": "Audio-Visual Consistency",
    "IF": "Instruction Following",
}


def _mos(score: Score) -> float:
    return ((score.value or 0.0) - 1.0) / 4.0


UNITS: Mapping[str, Callable[[Score], float]] = {
    "vtq": lambda score: float(score.details["vtq_sigmoid"]),
    "atq": lambda score: (score.value or 0.0) / 10.0,
    "ef": lambda score: score.value or 0.0,
    "sls": lambda score: float(np.clip((score.value or 0.0) / 10.0, 0.0, 1.0)),
    "ts": lambda score: max(0.0, score.value or 0.0),
}


def dimension_name(name: str) -> str:
    """The paper's name for any of the names in use. Raises KeyError."""
    full = SHORT.get(name, ALIASES.get(name, name))
    return {known: known for known in DIMENSIONS}[full]


def unit(score: Score) -> float:
    """A record with a value on 0..1."""
    return UNITS.get(score.metric, _mos)(score)


Values = dict[tuple[str, str], float]
"""(sample, system) -> value."""


def dimension_values(cases: Sequence[Case], scores: Sequence[Score]) -> dict[str, Values]:
    """Dimension -> mean unit value of the sub-metrics that a sample's output has."""
    samples = {case.id: of(case).sample for case in cases}
    found: dict[str, dict[tuple[str, str], list[float]]] = {name: defaultdict(list) for name in DIMENSIONS}
    member = {metric: name for name, metrics in DIMENSIONS.items() for metric in metrics}
    for score in scores:
        if score.value is not None and score.metric in member and score.case in samples:
            found[member[score.metric]][samples[score.case], score.system].append(unit(score))
    return {name: {key: sum(own) / len(own) for key, own in table.items()} for name, table in found.items()}


Outcomes = dict[tuple[str, str, str], float]
"""(sample, first system, second system) -> 1, 0 or -1; systems in alphabetical order."""


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


def human_outcomes(cases: Iterable[Case], dimension: str) -> Outcomes:
    """What people said, from `labels.preferences`: dimension -> other system -> votes of 1, 0 or -1 for this output.

    The majority of the annotators counts; an even split is a tie.
    """
    found: Outcomes = {}
    for case in cases:
        for name, rivals in case.labels.get("preferences", {}).items():
            if dimension_name(name) != dimension:
                continue
            for rival, votes in rivals.items():
                first, second = sorted((case.system, rival))
                outcome = float(majority(np.array([votes], np.float64))[0])
                found[of(case).sample, first, second] = outcome if first == case.system else -outcome
    return found


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
