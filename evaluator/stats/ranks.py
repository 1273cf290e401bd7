"""Rank correlation with ties. Knows numbers only; a correlation with a constant does not exist: None, never 0."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def spearman(first: Sequence[float], second: Sequence[float]) -> tuple[float, float] | None:
    """(rho, two-sided p) with average ranks for ties; None for fewer than three pairs or a constant input."""
    from scipy.stats import spearmanr

    if not _varies(first, second):
        return None
    found = spearmanr(first, second)
    return float(found.statistic), float(found.pvalue)


def kendall_tau_b(first: Sequence[float], second: Sequence[float]) -> tuple[float, float] | None:
    """(tau-b, two-sided p), tau-b = (C - D) / sqrt((C + D + T_x)(C + D + T_y)); None as for `spearman`."""
    from scipy.stats import kendalltau

    if not _varies(first, second):
        return None
    found = kendalltau(first, second)
    return float(found.statistic), float(found.pvalue)


def rank_correlation(first: Floats, second: Floats) -> float | None:
    """rho of `spearman` alone, for a bootstrap that needs it thousands of times."""
    from scipy.stats import rankdata

    if not _varies(first, second):
        return None
    ours, theirs = (ranks - ranks.mean() for ranks in rankdata([first, second], axis=1))
    return float(ours @ theirs / np.sqrt((ours @ ours) * (theirs @ theirs)))


def _varies(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> bool:
    return len(first) >= 3 and bool(np.ptp(first) > 0 and np.ptp(second) > 0)


def tau_b_of_signs(first: Floats, second: Floats) -> Floats:
    """tau-b from the order of each pair, -1, 0 or 1 [..., P] -> [...]; NaN where either ranking ties all pairs.

    The formula of `kendall_tau_b` written over pairs, which also holds when only some of the pairs were compared.
    """
    whole = np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))
    both = (first * second).sum(axis=-1)
    tau: Floats = np.divide(both, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0)
    return tau
