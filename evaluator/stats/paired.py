"""Tests and effect sizes for paired differences. Knows numbers only.

All p values are two-sided. A p value does not exist for fewer than two independent units: None, never 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluator.stats.bootstrap import cluster_sums

EXACT_UNITS = 16
"""Up to this many units all 2^n sign patterns are counted; beyond, as many random ones as DRAWS."""
DRAWS = 10_000
_CHUNK = 500
_SLACK = 1e-12  # relative; sums of the same numbers in another order are the same sum


def permutation_p(
    differences: Sequence[float], groups: Sequence[Hashable] | None = None, seed: int = 0
) -> float | None:
    """p of "the sign of each difference is a coin toss", with the sum of the differences as statistic.

    Fisher's randomisation test. With `groups` the signs of a group change together: under the null hypothesis A and B
    are exchangeable per source clip, not per output. Beyond EXACT_UNITS, Monte Carlo with the observed pattern counted
    (Phipson & Smyth 2010), so that p is never 0.
    """
    sums = cluster_sums(differences, range(len(differences)) if groups is None else groups)[:, 0]
    if len(sums) < 2:
        return None
    limit = abs(sums.sum()) - _SLACK * np.abs(sums).sum()
    if len(sums) <= EXACT_UNITS:
        patterns = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums))
        return float(np.mean(_totals(patterns, sums) >= limit))
    rng = np.random.default_rng(seed)
    hits = sum(
        int((_totals(rng.integers(0, 2, (_CHUNK, len(sums))), sums) >= limit).sum()) for _ in range(DRAWS // _CHUNK)
    )
    return (hits + 1) / (DRAWS + 1)


def _totals(patterns: NDArray[np.int64], sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """|sum| under each pattern [R, U] of 0 (keep) and 1 (flip) in the lowest bit."""
    # einsum, not @: the order of a BLAS sum depends on the number of threads.
    totals: NDArray[np.float64] = np.abs(np.einsum("ru,u->r", 1.0 - 2.0 * (patterns & 1), sums))
    return totals


def wilcoxon_p(differences: Sequence[float], groups: Sequence[Hashable] | None = None) -> float | None:
    """p of the Wilcoxon signed-rank test (scipy: zeros dropped, exact for small samples without ties).

    With `groups` the differences of a group are averaged first: one value per source clip.
    """
    from scipy.stats import wilcoxon

    sums = cluster_sums(differences, range(len(differences)) if groups is None else groups)
    if len(sums) < 2:
        return None
    means = sums[:, 0] / sums[:, 1]
    if not means.any():
        return 1.0  # every arrangement of no differences is as extreme as this one
    return float(wilcoxon(means).pvalue)


def cohen_dz(differences: Sequence[float]) -> float | None:
    """Mean difference in units of the standard deviation of the differences (n - 1).

    Cohen (1988), section 2.3.5. None for fewer than two differences, or if they do not vary.
    """
    if len(differences) < 2:
        return None
    data = np.asarray(differences, np.float64)
    spread = float(data.std(ddof=1))
    return float(data.mean()) / spread if spread > _SLACK * float(np.abs(data).max()) else None


def cliffs_delta(first: Sequence[float], second: Sequence[float]) -> float | None:
    """P(second > first) - P(second < first) over all pairs of values, -1 .. 1 (Cliff 1993); None without values."""
    if not first or not second:
        return None
    ordered = np.sort(np.asarray(first, np.float64))
    smaller = np.searchsorted(ordered, second, "left").sum()  # values of `first` below each of `second`
    not_larger = np.searchsorted(ordered, second, "right").sum()
    larger = len(first) * len(second) - not_larger
    return float(smaller - larger) / (len(first) * len(second))
