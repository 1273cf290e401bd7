"""From 1-5 to 0-100 (section 2.1): the paper reports 0-100 and does not give the map, so both stand in the record."""

from __future__ import annotations

LOWEST, HIGHEST = 1.0, 5.0


def score100(mean: float) -> float:
    """Percentage of the maximum: 1 -> 20, 3 -> 60, 5 -> 100."""
    return 20.0 * mean


def linear0(mean: float) -> float:
    """The whole range: 1 -> 0, 3 -> 50, 5 -> 100; 1.25 x score100 - 25."""
    return 25.0 * (mean - 1.0)
