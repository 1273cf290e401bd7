"""Do the answers of the judge, and the metrics, agree with people?

    answers       people's answers to the questions of a checklist, in `labels.answers` of a case (question -> answer),
                  against the judge's: share of equal answers per type, and Cohen's kappa of right and wrong
    preferences   people's choice between two outputs against a metric's, with a tie threshold that makes the metric
                  call as many ties as people do. `evaluator agree RUN HUMAN.csv` does this for every metric of a run;
                  `preferences` here is the same arithmetic on bare numbers.

Source: CoVEBench 8.3. How ties enter is our completion of what the paper says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.schema import Case, Score, Status
from evaluator.stats.agreement import cohen_kappa, confusion
from evaluator.stats.preference import adaptive_threshold, sign
from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench.questions import Item, Kind, groups_of, items_of
from evaluator.suites.covebench.rules import score_of


@dataclass(frozen=True, slots=True)
class Preferences:
    """Agreement over pairs of outputs. `threshold`: |difference| up to which a metric sees a tie; None without ties."""

    pairs: int
    threshold: float | None
    three_way: float  # share of pairs with the same of three verdicts
    clear: float | None  # share of the pairs that people decided; a difference of exactly 0 disagrees


def preferences(deltas: Sequence[float], human: Sequence[int]) -> Preferences:
    """`deltas`: metric of A minus metric of B, higher is better; `human`: 1 (A), -1 (B), 0 (tie). At least one pair."""
    people, metric = np.asarray(human), np.asarray(deltas, np.float64)
    ties = float(np.mean(people == 0))
    threshold = adaptive_threshold(metric, ties)
    decided = people != 0
    clear = float(np.mean(np.sign(metric[decided]) == people[decided])) if decided.any() else None
    three_way = float(np.mean(sign(metric, threshold) == people))
    return Preferences(len(people), threshold if ties else None, three_way, clear)


# ------------------------------------------------------------------------------------------------ checklist answers


@dataclass(frozen=True, slots=True)
class Pair:
    """One question that both a judge and people answered: both answers as scores."""

    item: Item
    judge: float
    people: float


def pairs(cases: Sequence[Case], scores: Sequence[Score]) -> Iterator[Pair]:
    """Every question with an answer of people and a usable one of the judge."""
    known = {case.id: case for case in cases if case.labels.get("answers")}
    for score in scores:
        if score.case in known and score.status is Status.OK:
            given = known[score.case].labels["answers"]
            items = {item.id: item for item in items_of(groups_of(known[score.case]))}
            yield from _pairs(items, given, score.details.get("questions", ()))


def _pairs(items: Mapping[str, Item], given: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Iterator[Pair]:
    for entry in entries:
        item = items[entry["id"]]
        people = score_of(item, given.get(item.id), tolerant=True)
        if people is not None and entry["score"] is not None:
            yield Pair(item, entry["score"], people)


def board(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """Agreement per type of question; None if no case holds answers of people."""
    found = list(pairs(cases, scores))
    rows = tuple(_row(kind, own) for kind in Kind if (own := [pair for pair in found if pair.item.kind is kind]))
    columns = ("type", "questions", "equal", "Cohen kappa", "mean distance of grades")
    notes = ("Yes, no and options: right and wrong are compared; grades: equal numbers, and their distance.",)
    return Board("answers", "Answers of judge and people (CoVEBench 8.3)", columns, rows, notes) if rows else None


def _row(kind: Kind, own: Sequence[Pair]) -> tuple[Cell, ...]:
    judge, people = [pair.judge for pair in own], [pair.people for pair in own]
    equal = float(np.mean(np.equal(judge, people)))
    if kind is Kind.SCORE_MCQ:
        return kind.value, len(own), equal, None, float(np.mean(np.abs(np.subtract(judge, people))))
    kappa = float(cohen_kappa(confusion(judge, people, (0.0, 1.0))))
    return kind.value, len(own), equal, None if np.isnan(kappa) else kappa, None
