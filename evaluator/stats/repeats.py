"""How much a figure moves when the same thing is measured several times. Knows numbers only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike


def relative_sd(means: Sequence[float]) -> float | None:
    """Standard deviation (n - 1) of repeated means over their |mean|, in percent; None for one mean or a mean of 0.

    MultiRef-Compass spec, section 5: below 1 % for every metric over five runs.
    """
    data = np.asarray(means, np.float64)
    if len(data) < 2 or data.mean() == 0:
        return None
    return float(100 * data.std(ddof=1) / abs(data.mean()))


def spread(means: Sequence[float]) -> float | None:
    """Largest minus smallest of repeated means (AVE-Compass spec, section 7.11: below 0.01); None for none."""
    return max(means) - min(means) if means else None


def item_error(values: ArrayLike) -> float:
    """Mean absolute distance of each value from its item's mean over the runs; `values` [items, runs]."""
    data = np.asarray(values, np.float64)
    return float(np.abs(data - data.mean(axis=1, keepdims=True)).mean())
