"""Which kind of error an edit has (spec 7.10): five categories, of which a case may have several.

The paper's table is not in our material; categories and thresholds here are a guess, printed with the table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.cells import Basis, Records, basis
from evaluator.suites.ave_compass.judged import FIDELITY, FOLLOWING, REALISM, metric_id

THRESHOLD = 1.0
"""A share below this is an error: any item that is not affirmed."""
GRADE = 2
"""A grade of realism up to this is an error."""
CATEGORIES: Mapping[str, str] = {
    "instruction, video": metric_id(FOLLOWING, "video"),
    "instruction, audio": metric_id(FOLLOWING, "audio"),
    "fidelity, video": metric_id(FIDELITY, "video"),
    "fidelity, audio": metric_id(FIDELITY, "audio"),
    "realism": REALISM,
}
"""Category -> the record that decides it."""


@dataclass(frozen=True, slots=True)
class Errors:
    """One category over some cases. `dominant`: cases of which it is the lowest cell that is below 1."""

    category: str
    basis: Basis
    errors: int
    defined: int
    dominant: int

    @property
    def share(self) -> float:
        """Errors over the cases for which the category is defined, in percent."""
        return 100.0 * self.errors / self.defined


def is_error(category: str, score: Score, threshold: float = THRESHOLD, grade: int = GRADE) -> bool:
    """Whether a record with a value shows an error of the category."""
    if category == "realism":
        grades = score.details.get("grades", {}).values()
        return any(value is not None and value <= grade for value in grades)
    return score.value is not None and score.value < threshold


def dominant(cells: Mapping[str, float]) -> str | None:
    """The category with the lowest cell, the first of equal ones; None if no cell is below 1."""
    below = {category: value for category, value in cells.items() if value < 1.0}
    return min(below, key=below.__getitem__) if below else None


def breakdown(
    records: Records, cases: Sequence[Case], threshold: float = THRESHOLD, grade: int = GRADE
) -> list[Errors]:
    """Every category that is defined for any of the cases, a line per basis."""
    worst = {case.id: dominant(dict(_cells(records, case))) for case in cases}
    found: list[Errors] = []
    for category, metric in CATEGORIES.items():
        lines: dict[Basis, list[tuple[bool, bool]]] = {}
        for case, score, _ in records.scored(cases, metric):
            marks = is_error(category, score, threshold, grade), worst[case.id] == category
            lines.setdefault(basis(score), []).append(marks)
        for ground, marked in lines.items():
            wrong, lowest = (sum(column) for column in zip(*marked, strict=True))
            found.append(Errors(category, ground, wrong, len(marked), lowest))
    return found


def _cells(records: Records, case: Case) -> Iterator[tuple[str, float]]:
    for category, metric in CATEGORIES.items():
        score = records[case, metric]
        if score is not None and score.value is not None:
            yield category, score.value
