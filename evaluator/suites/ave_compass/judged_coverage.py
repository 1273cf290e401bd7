"""What stands behind the overall judged scores of a system: cases and items that count, and what became of the rest.

A score that an empty cell does not have (the checklist asks nothing of that kind) is not missing. One that the judge or
the clip failed to give is, and its items count as asked, whatever the reason: a system must not look better for it.
Knows records and checklists; tables are `boards`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.schema import Case, Score, Status
from evaluator.suites.ave_compass.cells import Records
from evaluator.suites.ave_compass.checklist import checklist_of
from evaluator.suites.ave_compass.judged import DIMENSIONS, FIDELITY, FOLLOWING, INTENT, REALISM
from evaluator.suites.ave_compass.tallies import missing_outputs

EMPTY = "not_applicable"
"""Reason of an empty cell, and of a clip that has nothing to show."""


@dataclass(frozen=True, slots=True)
class Covered:
    """One overall score of one system. `missing` counts the active cases without a value by reason."""

    scored: tuple[Score, ...]
    missing: Mapping[str, int]
    failed: int  # of these, what the system or the judge failed: not those that nobody was there to judge
    asked: int  # items of the active cases that have an output
    answered: int

    @property
    def values(self) -> list[float]:
        """The values, 0..1."""
        return [score.value for score in self.scored if score.value is not None]

    @property
    def active(self) -> int:
        """Cases to which the score applies, missing outputs included."""
        return len(self.scored) + sum(self.missing.values())


def covered(records: Records, cases: Sequence[Case], family: str) -> Covered:
    """What stands behind the overall score of a family over the cases of one system."""
    pairs = [(case, score) for case in cases if (score := records[case, family]) is not None]
    scored = [(case, score) for case, score in pairs if score.value is not None]
    absent = [(case, score) for case, score in pairs if score.value is None and _applies(case, family, score)]
    outputs = sum(missing_outputs(cases).values())
    reasons = Counter({"missing_output": outputs} if outputs else {})
    reasons.update(score.reason.code for _, score in absent if score.reason is not None)
    lost = sum(score.status is Status.FAILED or _code(score) == EMPTY for _, score in absent)
    told = {key: sum(score.details.get(key, 0) for _, score in scored) for key in ("asked", "answered")}
    return Covered(
        scored=tuple(score for _, score in scored),
        missing=dict(sorted(reasons.items())),
        failed=outputs + lost,
        asked=told["asked"] + sum(items_of(case, family) for case, _ in absent if family in DIMENSIONS),
        answered=told["answered"],
    )


def items_of(case: Case, family: str) -> int:
    """How many items of its checklist a score of the case counts; 0 if it has no score (intent needs both factors)."""
    found = checklist_of(case)
    parts = (FOLLOWING, FIDELITY) if family == INTENT else (family,) if family in DIMENSIONS else ()
    counts = [sum(item.dimension is DIMENSIONS[part] for item in found.items) for part in parts] if found else []
    return sum(counts) if all(counts) else 0


def _applies(case: Case, family: str, score: Score) -> bool:
    """Whether a case without a value should have had one: every case in realism, else those whose checklist asks.

    A clip that cannot be read fails in every score, also in those that its checklist leaves empty.
    """
    if family == REALISM:
        return True
    return _code(score) != EMPTY if case.checklist is None else items_of(case, family) > 0


def _code(score: Score) -> str:
    return score.reason.code if score.reason is not None else ""
