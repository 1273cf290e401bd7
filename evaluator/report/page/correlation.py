"""Which metrics move together over the cases: Spearman's rho of every pair, over the cases that have both values.

Ranks are made here and not by scipy.stats, whose import costs more than the whole page of a small run; the tests hold
them against it. Knows columns of numbers only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIN_CASES = 3


@dataclass(frozen=True, slots=True)
class Correlation:
    """`rho[i][j]` of metrics i and j over `cases[i][j]` cases; None where a metric is constant or cases are too few."""

    metrics: tuple[str, ...]
    rho: tuple[tuple[float | None, ...], ...]
    cases: tuple[tuple[int, ...], ...]


def correlate(columns: Mapping[str, Sequence[float | None]]) -> Correlation | None:
    """Columns of equal length, a value or None per case. None if fewer than two of them vary."""
    data = {
        name: np.asarray([np.nan if value is None else value for value in column]) for name, column in columns.items()
    }
    varying = {name: column for name, column in data.items() if _varies(column[~np.isnan(column)])}
    if len(varying) < 2:
        return None
    size = len(varying)
    rho: list[list[float | None]] = [[1.0] * size for _ in range(size)]
    cases = [[int((~np.isnan(column)).sum())] * size for column in varying.values()]
    for (i, first), (j, second) in combinations(enumerate(varying.values()), 2):
        both = ~np.isnan(first + second)
        rho[i][j] = rho[j][i] = rank_correlation(first[both], second[both])
        cases[i][j] = cases[j][i] = int(both.sum())
    return Correlation(tuple(varying), tuple(map(tuple, rho)), tuple(map(tuple, cases)))


def rank_correlation(first: Floats, second: Floats) -> float | None:
    """Spearman's rho of two columns [N], average ranks for ties; None for a constant one or fewer than MIN_CASES."""
    if not (_varies(first) and _varies(second)):
        return None
    return float(np.corrcoef(average_ranks(first), average_ranks(second))[0, 1])


def average_ranks(values: Floats) -> Floats:
    """Ranks [N] from 1; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _varies(values: Floats) -> bool:
    return len(values) >= MIN_CASES and bool(np.ptp(values) > 0)
