"""Do edits get worse when there is more to do? The judge's scores by length of clips, number of edits, instruction.

The paper shows curves and no bins; the bins here are fixed, so that runs can be compared. A task whose length is not
recorded (its judge failed on it) is in the bin "unknown". Source: CoVEBench 8.4.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise

from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench.questions import Dimension, edits
from evaluator.suites.covebench.rules import Missing
from evaluator.suites.covebench.sheets import RULES, Sheet, Sheets, label, marks, tasks
from evaluator.suites.covebench.tally import pooled, pooled_union

Measure = Callable[[Sheet], float | None]


def edit_count(sheet: Sheet) -> float:
    """Number of edits that a task asks for."""
    return float(len(edits(sheet.groups)))


def instruction_words(sheet: Sheet) -> float:
    """Words of the editing instruction, split at white space."""
    return float(len(sheet.case.prompt.split()))


AXES: Mapping[str, tuple[Measure, tuple[float, ...]]] = {
    "edits": (edit_count, (1, 2, 3, 4, 5)),
    "source seconds": (lambda sheet: sheet.seconds, (0, 2, 4, 6, 8, 10, 15)),
    "output frames": (lambda sheet: sheet.frames, (0, 50, 82, 122, 162, 242)),
    "instruction words": (instruction_words, (0, 20, 30, 40, 60, 80)),
}
"""Axis -> how a task is measured, and the lower edges of its bins; the last bin is open."""

UNKNOWN = "unknown"


def binned(sheets: Sequence[Sheet], axis: str) -> dict[str, list[Sheet]]:
    """Bin -> its tasks, in the order of the axis; only bins that have any."""
    measure, edges = AXES[axis]
    names = _names(edges)
    found: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        value = measure(sheet)
        below = -1 if value is None else sum(edge <= value for edge in edges) - 1
        found.setdefault(names[below] if below >= 0 else UNKNOWN, []).append(sheet)
    return {name: found[name] for name in (*names, UNKNOWN) if name in found}


def _names(edges: Sequence[float]) -> list[str]:
    whole = edges[0] == 1  # counts: bins of one number
    names = [f"{low:g}" if whole else f"{low:g} to below {high:g}" for low, high in pairwise(edges)]
    return [*names, f"{edges[-1]:g} and more"]


def board(found: Sheets, missing: Missing) -> Board:
    """UAS, IFS and VRS of every system, axis and bin."""
    columns = ("system", "axis", "bin", "tasks", "UAS", "edits", "IFS", "VRS")
    notes = (f"Questions without an answer are {RULES[missing]}. The bins are ours.", *marks(found))
    return Board(
        "scalability", "Length and complexity (CoVEBench 8.4)", columns, tuple(_rows(found, missing)), notes, 2
    )


def _rows(found: Sheets, missing: Missing) -> Iterator[tuple[Cell, ...]]:
    for name, own in found.items():
        for axis in AXES:
            for title, members in binned(own, axis).items():
                whole = tasks(members)
                uas = pooled_union(whole, missing)
                ifs, vrs = (pooled(whole, one, missing).value for one in (Dimension.IFS, Dimension.VRS))
                yield label(name), axis, title, len(members), uas.value, uas.n, ifs, vrs
