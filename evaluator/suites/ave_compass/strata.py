"""Scores by difficulty (spec 7.11): localisation, complexity of the sound, linkage, aspect, and length of the source.

Labels are those of the case; the length is what the records measured of the source, else the case's label. A case
without a label of an axis, or with one that the axis does not know, belongs to no stratum of it and is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.schema import Case
from evaluator.suites.ave_compass.cells import Records, seconds
from evaluator.suites.ave_compass.judged import FAMILIES, FIDELITY, FOLLOWING, INTENT, metric_id
from evaluator.suites.ave_compass.taxonomy import STRATA, duration_bin

FEW = 5
"""Strata of fewer cases are marked."""
HEADLINE: Mapping[str, str] = {
    "duration": INTENT,
    "localisation": metric_id(FOLLOWING, "video"),
    "complexity": metric_id(FIDELITY, "audio"),
    "linkage": metric_id(FOLLOWING, "audio"),
}
"""Axis -> the metric that the paper ties to it; localisation and linkage are inferred."""
DURATION = "duration"


def stratum(records: Records, case: Case, axis: str) -> str | None:
    """The stratum of a case on an axis; None if it has none. A measured length counts before a label."""
    length = seconds(records, case, FAMILIES) if axis == DURATION else None
    if length is not None:
        return duration_bin(length)
    label = case.labels.get(axis)
    return label if label in STRATA[axis] else None


def by_stratum(records: Records, cases: Sequence[Case], axis: str) -> dict[str, list[Case]]:
    """Stratum -> its cases, in the order of the axis, without empty strata."""
    placed = [(stratum(records, case, axis), case) for case in cases]
    found = {name: [case for place, case in placed if place == name] for name in STRATA[axis]}
    return {name: members for name, members in found.items() if members}
