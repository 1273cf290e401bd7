"""Correction of p values for having made several tests. Knows numbers only."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted p values, in the order given: a test is significant at level a if its adjusted p is at most a.

    Holm (1979), step-down Bonferroni: the k-th smallest of m values is multiplied by m - k + 1, and no value may be
    smaller than the one before it. Controls the chance of any false finding, whatever the dependence of the tests.
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted = [0.0] * len(p_values)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = least
    return adjusted
