"""What people said against what was scored: shot alignment and single dimensions (spec 9).

Labels of a case, all optional:
    "segments": [1, 1, 0, 3]            shot of the script that a person saw in each detected segment, 0 for none
    "dimensions": {"D2": [[1, 0], ...]} per item (transition, event, question) the votes of the annotators, 0 or 1;
                                        or {"C1": [1, 0, 1]}: votes on the whole sample

An item of a judge agrees if its credit, rounded at 0.5, is the majority of the votes; an even vote counts nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.schema import Case, Score
from evaluator.stats.preference import majority
from evaluator.suites.cutcraft.groups import DIMENSIONS


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs (shot of the script, segment) of one side against the other's."""

    right: int
    found: int
    wanted: int

    @property
    def precision(self) -> float | None:
        """Share of our pairs that people have."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """Share of people's pairs that we have."""
        return self.right / self.wanted if self.wanted else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of both; None without pairs on either side."""
        return 2 * self.right / (self.found + self.wanted) if self.found + self.wanted else None


def alignment(found: Sequence[int], wanted: Sequence[int]) -> Alignment:
    """Labels per segment, from 0, negative for none: ours and people's."""
    ours, theirs = ({(place, label) for place, label in enumerate(side) if label >= 0} for side in (found, wanted))
    return Alignment(len(ours & theirs), len(ours), len(theirs))


def alignments(cases: Sequence[Case], scores: Iterable[Score]) -> dict[str, Alignment]:
    """System -> all its pairs, over cases that a person looked at and the pictures of which gave as many segments."""
    known = {case.id: case for case in cases if "segments" in case.labels}
    seen: set[str] = set()
    sums: dict[str, list[int]] = {}
    for score in scores:
        record = score.details.get("alignment")
        if score.case not in known or record is None or score.case in seen:
            continue
        seen.add(score.case)
        wanted = [int(label) - 1 for label in known[score.case].labels["segments"]]
        if len(wanted) != len(record["labels"]):
            continue
        one = alignment(record["labels"], wanted)
        total = sums.setdefault(score.system, [0, 0, 0])
        sums[score.system] = [a + b for a, b in zip(total, (one.right, one.found, one.wanted), strict=True)]
    return {system: Alignment(*total) for system, total in sums.items()}


def agreements(cases: Sequence[Case], scores: Iterable[Score]) -> dict[str, tuple[int, int]]:
    """Dimension -> (items that agree, items that were compared)."""
    votes = {case.id: case.labels.get("dimensions", {}) for case in cases}
    found: dict[str, tuple[int, int]] = {}
    for score in scores:
        dimension = score.metric.upper()
        given = votes.get(score.case, {}).get(dimension)
        if given is None or score.value is None or dimension not in DIMENSIONS:
            continue
        for ours, people in _pairs(score, given):
            said = float(majority(np.array([[2.0 * vote - 1.0 for vote in people]]))[0])
            if said == 0.0 or ours is None:
                continue
            agree, all_ = found.get(dimension, (0, 0))
            found[dimension] = (agree + int((ours >= 0.5) == (said > 0.0)), all_ + 1)
    return found


def _pairs(score: Score, given: Sequence[Any]) -> Iterator[tuple[float | None, Sequence[float]]]:
    """(our credit, votes) of every item of a record; the whole sample where votes are not given per item."""
    if not (given and isinstance(given[0], Sequence)):
        yield score.value, given
        return
    found = _credits(score)
    if len(found) == len(given):
        yield from zip(found, given, strict=True)


def _credits(score: Score) -> list[float | None]:
    if "grades" in score.details:
        grades, lost = score.details["grades"], score.details.get("unanswered", ())
        return [None if place in lost else float(grade or 0.0) for place, grade in enumerate(grades, 1)]
    items: Sequence[Mapping[str, Any]] = score.details.get("transitions", ())
    return [
        item.get("credit", item.get("measured") if item.get("judged") is None else item["judged"]) for item in items
    ]
