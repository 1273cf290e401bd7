"""All edits in one pass against one after the other: two systems on the tasks that both have.

A system whose cases name the joint one in `data.sequential_of` is compared with it: same tasks, same checklist.
Intervals of the difference draw source clips, since tasks of one clip are not independent. Source: CoVEBench 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.stats.bootstrap import Interval, tally_interval
from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench.questions import Dimension
from evaluator.suites.covebench.rules import Missing
from evaluator.suites.covebench.sheets import RULES, Name, Sheet, Sheets, label, marks, tasks
from evaluator.suites.covebench.tally import Share, pooled, pooled_union

Figure = Callable[[Sequence[Sheet]], Share]


@dataclass(frozen=True, slots=True)
class Contrast:
    """One score of both, over the same tasks. `interval`: 95 % of joint minus sequential; None for fewer than two
    source clips."""

    score: str
    joint: Share
    sequential: Share
    interval: Interval | None

    @property
    def difference(self) -> float | None:
        """Joint minus sequential; positive where one pass is better."""
        if self.joint.value is None or self.sequential.value is None:
            return None
        return self.joint.value - self.sequential.value


def figures(missing: Missing) -> Mapping[str, Figure]:
    """The scores that are compared."""

    def of(dimension: Dimension) -> Figure:
        return lambda sheets: pooled(tasks(sheets), dimension, missing)

    union: Figure = lambda sheets: pooled_union(tasks(sheets), missing)  # noqa: E731  (one of four alike)
    return {"UAS": union, "IFS": of(Dimension.IFS), "VRS": of(Dimension.VRS), "SEM": of(Dimension.SEM)}


def contrasts(joint: Sequence[Sheet], sequential: Sequence[Sheet], missing: Missing) -> list[Contrast]:
    """Every score of two systems over the tasks of both, matched by task number."""
    ours, theirs = _by_task(joint), _by_task(sequential)
    both = [task for task in ours if task in theirs]
    clusters: dict[str, list[int]] = {}
    for task in both:
        clusters.setdefault(str(ours[task].case.source), []).append(task)
    sides = ([ours[task] for task in both], [theirs[task] for task in both])
    return [
        Contrast(name, figure(sides[0]), figure(sides[1]), _interval(figure, clusters, (ours, theirs)))
        for name, figure in figures(missing).items()
    ]


def _by_task(sheets: Sequence[Sheet]) -> dict[int, Sheet]:
    return {sheet.case.data["task"]: sheet for sheet in sheets}


def _interval(
    figure: Figure, clusters: Mapping[str, Sequence[int]], sides: tuple[Mapping[int, Sheet], Mapping[int, Sheet]]
) -> Interval | None:
    rows = [
        [number for side in sides for number in _sum(figure([side[task] for task in members]))]
        for members in clusters.values()
    ]
    return tally_interval(np.asarray(rows, np.float64).reshape(-1, 4), _difference)


def _sum(found: Share) -> tuple[float, float]:
    return (found.value or 0.0) * found.n, float(found.n)


def _difference(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """[R, 4] (sum, n, sum, n) -> [R] difference of the two means; NaN where one does not exist."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found: NDArray[np.float64] = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    return found


def board(found: Sheets, missing: Missing) -> Board | None:
    """The comparison for every system that was made edit by edit; None if there is none."""
    rows = tuple(row for name, own in found.items() for row in _rows(name, own, found, missing))
    columns = ("joint", "sequential", "score", "tasks", "joint score", "sequential score", "difference", "95 %")
    notes = (
        f"Questions without an answer are {RULES[missing]}; the interval draws source clips.",
        "Published for one system: UAS 30.63 against 23.70, IFS 56.56 against 48.68, VRS 56.48 against 51.62.",
        *marks(found),
    )
    title = "All edits at once against one after the other (CoVEBench 8.4)"
    return Board("joint_sequential", title, columns, rows, notes, 2) if rows else None


def _rows(name: Name, own: Sequence[Sheet], found: Sheets, missing: Missing) -> Iterator[tuple[Cell, ...]]:
    partner = own[0].case.data.get("sequential_of", "") if own else ""
    joint = found.get((partner, name[1])) if partner else None
    for one in contrasts(joint, own, missing) if joint else ():
        shared = _by_task(joint or ()).keys() & _by_task(own).keys()
        span = f"[{one.interval[0]:+.2f}, {one.interval[1]:+.2f}]" if one.interval else None
        pair = (one.joint.value, one.sequential.value, one.difference, span)
        yield label((partner, name[1])), label(name), one.score, len(shared), *pair
