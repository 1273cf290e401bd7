"""The four judge scores from the scores of single questions, by both definitions of the benchmark.

    group    (released, default) questions of all tasks are pooled; UAS is the share of edits that are entirely right
    task     (superseded) every task has its means; UAS is the share of tasks that are entirely right

Scores of questions come as a mapping: 1 or 0 or a grade, None for a question without a usable answer; a question that
is not in the mapping was not asked and counts nowhere. Source: CoVEBench 3.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluator.suites.covebench.questions import Dimension, Group, Item, items_of
from evaluator.suites.covebench.rules import Missing, counted

Scores = Mapping[str, float | None]
"""Question -> its score within one task."""
Task = tuple[Sequence[Group], Scores]
"""One task with what was scored of it."""

FULL = {Dimension.IFS: 100.0, Dimension.VRS: 100.0, Dimension.SEM: 10.0}
"""From a mean to the scale of the tables: 0..100, and 10..100 for grades of 1..10."""


@dataclass(frozen=True, slots=True)
class Share:
    """A mean over `n` units on the scale of the tables; None over none. `missing` had no answer, counted or not."""

    value: float | None
    n: int
    missing: int


def share(values: Sequence[float | None], full: float, missing: int = 0) -> Share:
    """The mean of what is there."""
    known = [value for value in values if value is not None]
    return Share(full * fmean(known) if known else None, len(known), missing)


def pooled(tasks: Iterable[Task], dimension: Dimension, missing: Missing) -> Share:
    """IFS, VRS or SEM over all questions of all tasks."""
    found = [one for groups, scores in tasks for one in _values(items_of(groups), scores, dimension, missing)]
    return share([value for _, value in found], FULL[dimension], sum(score is None for score, _ in found))


def pooled_union(tasks: Iterable[Task], missing: Missing) -> Share:
    """UAS over all edits of all tasks. `missing` counts edits of which no question has an answer."""
    found = [(group, scores) for groups, scores in tasks for group in groups if asked(group, scores)]
    lost = sum(all(scores[item.id] is None for item in asked(group, scores)) for group, scores in found)
    return share([union(group, scores, missing) for group, scores in found], 100.0, lost)


def union(group: Group, scores: Scores, missing: Missing) -> float | None:
    """1 if every question about doing an edit and doing it well is right, else 0; None if none of them counts."""
    values = [counted(item, scores[item.id], missing) for item in asked(group, scores)]
    known = [value for value in values if value is not None]
    return float(all(value == 1.0 for value in known)) if known else None


def asked(group: Group, scores: Scores) -> list[Item]:
    """The union's questions of a group that were asked."""
    return [item for item in group.union if item.id in scores]


# ------------------------------------------------------------------------------------------- superseded definition


def task_mean(task: Task, dimension: Dimension, missing: Missing) -> float | None:
    """Mean of one dimension over one task: 0..100, or a grade of 1..10 for SEM."""
    values = [value for _, value in _values(items_of(task[0]), task[1], dimension, missing)]
    return share(values, 1.0 if dimension is Dimension.SEM else 100.0).value


def task_union(task: Task, missing: Missing) -> float | None:
    """1 if every IFS and VRS question of a task is right, else 0; None unless both kinds have one that counts."""
    kinds = [
        [value for _, value in _values(items_of(task[0]), task[1], dimension, missing) if value is not None]
        for dimension in (Dimension.IFS, Dimension.VRS)
    ]
    return float(all(value == 1.0 for values in kinds for value in values)) if all(kinds) else None


def _values(
    items: Iterable[Item], scores: Scores, dimension: Dimension, missing: Missing
) -> list[tuple[float | None, float | None]]:
    """(score, score as it counts) of every question of a dimension that was asked."""
    mine = [item for item in items if item.dimension is dimension and item.id in scores]
    return [(scores[item.id], counted(item, scores[item.id], missing)) for item in mine]
