"""Stability (section 5): the whole pipeline repeated on the same outputs; how much do metrics and items move.

Relative standard deviation of the metric means over the runs (n - 1), and mean distance of an item from its own mean.
The paper asks for less than 1 % over five runs of sixty samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from evaluator.schema import Score
from evaluator.stats.repeats import item_error, relative_sd
from evaluator.suites.board import Board, Cell

LIMIT = 1.0
"""Percent."""


def stability(runs: Sequence[Sequence[Score]]) -> Board:
    """One row per metric, over the cases that have a value in every run."""
    tables = [{(one.metric, one.case): one.value for one in run if one.value is not None} for run in runs]
    common = [key for key in tables[0] if all(key in table for table in tables)] if tables else []
    rows: list[tuple[Cell, ...]] = []
    for metric in dict.fromkeys(name for name, _ in common):
        keys = [key for key in common if key[0] == metric]
        means = [fmean(table[key] for key in keys) for table in tables]
        moved = relative_sd(means)
        errors = item_error([[table[key] for table in tables] for key in keys])
        items = _items(runs, metric)
        steady = None if moved is None else ("yes" if moved < LIMIT else "no")
        rows.append((metric, len(keys), fmean(means), moved, errors, items, steady))
    columns = ("metric", "cases", "mean", "RSD %", "case MAE", "item MAE", f"below {LIMIT:g} %")
    notes = (f"{len(runs)} runs; cases without a value in any of them are left out",)
    return Board("stability", "MultiRef-Compass, stability over repeated runs", columns, tuple(rows), notes)


def _items(runs: Sequence[Sequence[Score]], metric: str) -> float | None:
    """Mean distance of the items of a judged metric from their means; None for a metric without items."""
    tables: list[Mapping[tuple[str, str], float]] = [
        {
            (score.case, item["id"]): item["grade"]
            for score in run
            if score.metric == metric
            for item in score.details.get("items", ())
            if item.get("grade") is not None
        }
        for run in runs
    ]
    common = [key for key in tables[0] if all(key in table for table in tables)]
    return item_error([[table[key] for table in tables] for key in common]) if common else None
