"""What one answer to one question is worth, as the reference counts and as it should have counted.

The reference compares strings, so that "true", "A." and "8/10" are not what they seem. `tolerant` reads true, false, 1
and 0 as yes and no, and keeps grades within 1..10; it repairs nothing else. Source: CoVEBench 3.4, 3.5, 10.
"""

from __future__ import annotations

from typing import Literal

from evaluator.schema import Case
from evaluator.suites.covebench.questions import Dimension, Item, Kind

Said = str | int | float | bool | None
"""An answer as a judge gave it; None if it gave none."""

Missing = Literal["wrong", "reference"]
"""What a question without a score means: a wrong answer (the lowest grade), or nothing at all, as in the reference."""

MISSING: tuple[Missing, ...] = ("reference", "wrong")


def missing_rule(case: Case, default: Missing) -> Missing:
    """What counts for a case: what it says (`data.missing`), else the default of the profile."""
    found = case.data.get("missing")
    return next((rule for rule in MISSING if rule == found), default)


UNANSWERED = "unanswered"
"""Code of a record that failed because no question of it has an answer. No clip's trouble has this code."""

LOWEST, HIGHEST = 1.0, 10.0
"""Grades of a Score-MCQ."""

ABSURD = 1e6
"""What is further from 0 is no grade and no rating, whatever the profile: means of such numbers need not be finite."""

_WORDS = {"true": "yes", "1": "yes", "false": "no", "0": "no"}


def score_of(item: Item, said: Said, tolerant: bool) -> float | None:
    """1 or 0, or a grade for a Score-MCQ; None if there is no answer, or none that is a number where one is needed."""
    if said is None:
        return None
    if item.kind is Kind.SCORE_MCQ:
        return _grade(said, tolerant)
    answer, expected = str(said).strip().lower(), item.expected.strip().lower()
    if tolerant and item.kind is not Kind.AB_MCQ:
        answer = _WORDS.get(answer, answer)
    return float(answer == expected)


def _grade(said: Said, tolerant: bool) -> float | None:
    try:
        grade = float(said)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    if not abs(grade) <= ABSURD:  # "nan" is not; the reference would take it, and its mean with it
        return None
    return min(HIGHEST, max(LOWEST, grade)) if tolerant else grade


def counted(item: Item, score: float | None, missing: Missing) -> float | None:
    """The score as it enters a mean; None if it does not."""
    if score is not None or missing == "reference":
        return score
    return LOWEST if item.dimension is Dimension.SEM else 0.0
