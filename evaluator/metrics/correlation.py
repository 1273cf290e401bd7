"""Correlation of two series as one slides along the other. Lag signs are stated with each function.

Knows nothing about sound or pictures.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64

UNDEFINED = -1.0
"""Correlation where one side does not vary or fewer than two frames overlap (AVE-Compass 4.9)."""

MIN_DEVIATION = 1e-8
"""Standard deviation below which a side counts as constant (AVE-Compass 4.9)."""


def spectrogram_correlation(a: F64, b: F64, max_lag: int) -> F64:
    """Pearson correlation of all overlapping values of spectrograms [Ta, F] and [Tb, F] per lag: [2 max_lag + 1].

    Entry k belongs to lag k - max_lag frames; a positive lag drops the head of `a` (b is early), a negative one the
    head of `b` (b is late). Exactly the definition of AVE-Compass 4.9 without forming the z-scored copies: means and
    deviations come from prefix sums, and the products of a lag are one dot product of two contiguous ranges.
    """
    sums_a, sums_b = _prefix_sums(a), _prefix_sums(b)
    return np.array([_at_lag(a, b, sums_a, sums_b, lag) for lag in range(-max_lag, max_lag + 1)])


def _prefix_sums(x: F64) -> F64:
    """[2, T + 1]: sums of values and of squares over the frames before each frame."""
    columns = np.stack([x.sum(axis=1), np.einsum("tf,tf->t", x, x)])
    return np.concatenate([np.zeros((2, 1)), np.cumsum(columns, axis=1)], axis=1)


def _at_lag(a: F64, b: F64, sums_a: F64, sums_b: F64, lag: int) -> float:
    head_a, head_b = max(lag, 0), max(-lag, 0)
    overlap = min(len(a) - head_a, len(b) - head_b)
    if overlap < 2:
        return UNDEFINED
    count = overlap * a.shape[1]
    mean_a, deviation_a = _moments(sums_a, head_a, overlap, count)
    mean_b, deviation_b = _moments(sums_b, head_b, overlap, count)
    if min(deviation_a, deviation_b) < MIN_DEVIATION:
        return UNDEFINED
    product = np.vdot(a[head_a : head_a + overlap], b[head_b : head_b + overlap])
    return float((product / count - mean_a * mean_b) / (deviation_a * deviation_b))


def _moments(sums: F64, head: int, overlap: int, count: int) -> tuple[float, float]:
    """Mean and population standard deviation of the frames [head, head + overlap)."""
    total, squares = sums[:, head + overlap] - sums[:, head]
    mean = total / count
    return float(mean), float(np.sqrt(max(squares / count - mean * mean, 0.0)))


def pearson(x: F64, y: F64) -> float:
    """Pearson correlation of two series [N]; 0.0 if one of them is constant, for then nothing moves together."""
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(np.clip(x @ y / scale, -1.0, 1.0)) if scale > 0.0 else 0.0


def masked_correlation(x: F64, y: F64, max_lag: int, min_pairs: int) -> F64:
    """Pearson correlation of x[j] with y[j + lag] for each lag -max_lag..max_lag [2 max_lag + 1], where neither is NaN.

    `x` is [N]; `y` is [N + 2 max_lag] and begins `max_lag` steps earlier. NaN for a lag with fewer than `min_pairs`.
    """
    return np.array([_masked_pearson(x, y[k : k + len(x)], min_pairs) for k in range(2 * max_lag + 1)])


def _masked_pearson(x: F64, y: F64, min_pairs: int) -> float:
    both = np.isfinite(x) & np.isfinite(y)
    return pearson(x[both], y[both]) if both.sum() >= min_pairs else np.nan
