"""A figure with its interval: an estimate from tallies that add up over items. Knows numbers and their names only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.stats.bootstrap import Interval, Method, tally_interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Figure:
    """One estimate. `value` is None if it does not exist; `n` counts the comparisons behind it."""

    name: str
    value: float | None
    interval: Interval | None
    n: int


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: by drawing items (`items`: the number of the item of each row) with replacement."""

    items: NDArray[np.int64]
    method: Method = "percentile"
    seed: int = 0

    def estimate(self, name: str, rows: Floats, figure: Callable[[Floats], Floats], n: float) -> Figure:
        """A figure of summed rows: `rows` [P, ...] are flattened to [P, D], `figure` maps sums [R, D] to [R]."""
        tallies = self.by_item(rows.reshape(len(rows), -1))
        value = float(figure(tallies.sum(axis=0)[None])[0])
        if np.isnan(value):
            return Figure(name, None, None, int(n))
        return Figure(name, value, tally_interval(tallies, figure, seed=self.seed, method=self.method), int(n))

    def by_item(self, rows: Floats) -> Floats:
        """Rows [P, D] added up per item [I, D]."""
        sums = np.zeros((int(self.items.max()) + 1, rows.shape[1]))
        np.add.at(sums, self.items, rows)
        return sums


def numbered(labels: Sequence[str]) -> NDArray[np.int64]:
    """Labels to numbers from 0 in order of first appearance."""
    place = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    return np.asarray([place[label] for label in labels], np.int64)
