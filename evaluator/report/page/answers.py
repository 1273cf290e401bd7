"""How often a judge answered, how surely, and why it did not: the response rate behind every judged metric.

Reads records only: a judged one carries the key of its answer, or a reason that only judging can give.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluator.judge.types import Status as AnswerStatus
from evaluator.report.aggregate import evidence_of
from evaluator.schema import Score, Status

LEDGER_KEY = "ledger_key"
NO_JUDGE = "no_judge"
UNANSWERED = {str(status) for status in AnswerStatus} - {AnswerStatus.OK}


@dataclass(frozen=True, slots=True)
class Responses:
    """One judged metric. `rate` is the share of the questions that were put to a judge and got a readable answer."""

    metric: str
    answered: int
    unanswered: Mapping[str, int]  # code -> cases
    skipped: Mapping[str, int]  # not asked: code -> cases
    evidence: Mapping[str, int]  # kind -> cases
    near_ties: int
    margin: float | None  # mean over answers that have one
    label_mass: float | None

    @property
    def rate(self) -> float | None:
        """None if nobody was asked."""
        asked = self.answered + sum(self.unanswered.values())
        return self.answered / asked if asked else None


def answer_trees(details: Mapping[str, Any] | list[Any] | tuple[Any, ...]) -> Iterator[Mapping[str, Any]]:
    """Every tree inside the details of a record that names an answer of the ledger, in order."""
    if isinstance(details, Mapping):
        if isinstance(details.get(LEDGER_KEY), str):
            yield details
        details = list(details.values())
    for item in details:
        if isinstance(item, dict | list | tuple):
            yield from answer_trees(item)


def is_judged(score: Score) -> bool:
    """Whether a record rests on a judge, or would have."""
    code = score.reason.code if score.reason else ""
    return code == NO_JUDGE or code in UNANSWERED or bool(evidence_of(score)) or any(answer_trees(score.details))


def responses(scores: Iterable[Score]) -> list[Responses]:
    """One entry per judged metric, in order of first appearance."""
    by_metric: dict[str, list[Score]] = {}
    for score in scores:
        by_metric.setdefault(score.metric, []).append(score)
    return [_responses(metric, own) for metric, own in by_metric.items() if any(map(is_judged, own))]


def _responses(metric: str, scores: Sequence[Score]) -> Responses:
    answers = [tree for score in scores for tree in answer_trees(score.details)]
    return Responses(
        metric=metric,
        answered=sum(score.status is Status.OK for score in scores),
        unanswered=_codes(scores, Status.FAILED),
        skipped=_codes(scores, Status.SKIPPED),
        evidence=dict(Counter(evidence_of(score) for score in scores if evidence_of(score))),
        near_ties=sum(bool(tree.get("near_tie")) for tree in answers),
        margin=_mean(answers, "margin"),
        label_mass=_mean(answers, "label_mass"),
    )


def _codes(scores: Iterable[Score], status: Status) -> dict[str, int]:
    found = Counter(score.reason.code for score in scores if score.status is status and score.reason)
    return dict(sorted(found.items()))


def _mean(answers: Iterable[Mapping[str, Any]], name: str) -> float | None:
    values = [tree[name] for tree in answers if isinstance(tree.get(name), int | float)]
    return fmean(values) if values else None
