"""The records of a run as the protocol's tables read them: by system, by case, and by what the judge was shown.

Means are macro averages over cases that have a value (spec 7.7), in percent. Records of different judges or different
evidence (native, substitute, mixed) never meet in one mean: each combination is a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.scoring import PERCENT

KINDS = ("native", "mixed", "substitute")
"""What a judge was shown, in the order of tables."""
MARK = "*"
"""Stands behind the name of a judge that is none."""


@dataclass(frozen=True, slots=True)
class Basis:
    """What a mean of judged records rests on."""

    judge: str  # with MARK if its answers mean nothing
    evidence: str

    @property
    def order(self) -> tuple[str, int]:
        """For sorting."""
        return self.judge, KINDS.index(self.evidence) if self.evidence in KINDS else len(KINDS)


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean in percent and the number of cases behind it; None where there is none."""

    value: float | None
    n: int


class Records:
    """Scores of one run by case and metric, beside the cases."""

    def __init__(self, cases: Sequence[Case], scores: Iterable[Score]) -> None:
        self.cases = list(cases)
        self._scores = {score.key: score for score in scores}

    def __getitem__(self, place: tuple[Case, str]) -> Score | None:
        """The record of one metric of one case; None if it was not computed."""
        case, metric = place
        return self._scores.get((case.id, metric))

    @property
    def profile(self) -> str:
        """The profile of the run; `paper` without any record."""
        return next((score.profile for score in self._scores.values()), "paper")

    @property
    def systems(self) -> list[str]:
        """Systems in the order of the manifest."""
        return list(dict.fromkeys(case.system for case in self.cases))

    def of(self, system: str) -> list[Case]:
        """The cases of one system."""
        return [case for case in self.cases if case.system == system]

    def scored(self, cases: Iterable[Case], metric: str) -> Iterator[tuple[Case, Score, float]]:
        """(case, record, value) of the cases that have a value."""
        for case in cases:
            score = self[case, metric]
            if score is not None and score.value is not None:
                yield case, score, score.value

    def has(self, metric: str) -> bool:
        """Whether any case has a value."""
        return any(True for _ in self.scored(self.cases, metric))


def basis(score: Score) -> Basis:
    """Judge and evidence of one judged record. The judge is the last of its models (`runner.plan`)."""
    judge = score.models[-1] if score.models else None
    name = (judge.id + (MARK if judge.stands_in_for else "")) if judge else ""
    return Basis(name, str(score.details.get("evidence", "")))


def means(records: Records, cases: Sequence[Case], metrics: Sequence[str]) -> dict[Basis, list[Mean]]:
    """One line of means per basis, a mean per metric; lines in the order of tables."""
    values: dict[Basis, dict[str, list[float]]] = {}
    for metric in metrics:
        for _, score, value in records.scored(cases, metric):
            values.setdefault(basis(score), {}).setdefault(metric, []).append(value)
    ordered = sorted(values.items(), key=lambda item: item[0].order)
    return {found: [mean(columns.get(metric, [])) for metric in metrics] for found, columns in ordered}


def mean(values: Sequence[float]) -> Mean:
    """Mean of shares as a percentage."""
    return Mean(PERCENT * fmean(values) if values else None, len(values))


def items(score: Score | None) -> list[Mapping[str, Any]]:
    """What was said of each item, from an overall record."""
    return list(score.details.get("items", ())) if score is not None else []


def seconds(records: Records, case: Case, metrics: Iterable[str]) -> float | None:
    """Length of the source of a case, from whichever record holds it."""
    for metric in metrics:
        score = records[case, metric]
        found = score.details.get("source_seconds") if score is not None else None
        if found is not None:
            return float(found)
    return None
