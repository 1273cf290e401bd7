"""Percentile bootstrap of a mean, seeded: the same values give the same interval on every machine.

Knows numbers only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2000
_CHUNK = 200  # resamples at a time, so that memory stays at 200 rows whatever RESAMPLES is


def mean_interval(values: Sequence[float], confidence: float = 0.95, seed: int = 0) -> tuple[float, float] | None:
    """(low, high) of the mean by resampling `values` with replacement; None for fewer than two values.

    Efron & Tibshirani (1993), section 13.3: quantiles of the resampled means.
    """
    if len(values) < 2:
        return None
    data = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    means = [
        data[rng.integers(0, len(data), (_CHUNK, len(data)))].mean(axis=1)  # [_CHUNK]
        for _ in range(RESAMPLES // _CHUNK)
    ]
    tail = (1 - confidence) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return float(low), float(high)
