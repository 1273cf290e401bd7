"""Bootstrap intervals, seeded: the same values give the same interval on every machine.

Percentile (Efron & Tibshirani 1993, section 13.3) and BCa (section 14.3), over independent units or over clusters of
them. Knows numbers only; what a unit is, and what is estimated, is the caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000
_CHUNK = 200  # resamples at a time, so that memory stays at 200 rows whatever RESAMPLES is
_UNDEFINED = 0.1  # share of resamples without a figure above which there is no interval

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Method = Literal["percentile", "bca"]
Figure = Callable[[Rows], Floats]
"""Estimates from resamples: rows of unit numbers [R, U] -> figures [R]; NaN where a resample has none."""
Interval = tuple[float, float]


def mean_interval(
    values: Sequence[float],
    confidence: float = 0.95,
    seed: int = 0,
    groups: Sequence[Hashable] | None = None,
    method: Method = "percentile",
) -> Interval | None:
    """(low, high) of the mean by resampling `values` with replacement; None for fewer than two units.

    With `groups` (a label per value) whole groups are drawn: outputs made from one source clip are not independent.
    """
    if groups is None:
        data = np.asarray(values, np.float64)
        return interval(len(data), lambda rows: data[rows].mean(axis=1), confidence, seed, method)
    sums = cluster_sums(values, groups)
    return tally_interval(sums, ratio, confidence, seed, method)


def tally_interval(
    tallies: Floats,
    figure: Callable[[Floats], Floats],
    confidence: float = 0.95,
    seed: int = 0,
    method: Method = "percentile",
) -> Interval | None:
    """Interval of a figure of sums: `tallies` [U, D] are added over the drawn units, `figure` maps [R, D] to [R]."""
    return interval(len(tallies), lambda rows: figure(tallies[rows].sum(axis=1)), confidence, seed, method)


def interval(
    units: int, figure: Figure, confidence: float = 0.95, seed: int = 0, method: Method = "percentile"
) -> Interval | None:
    """(low, high) of `figure` over `units` independent units.

    None for fewer than two units, and where more than a tenth of the resamples have no figure (NaN).
    """
    if units < 2:
        return None
    drawn = draws(units, figure, RESAMPLES, seed)
    defined = drawn[~np.isnan(drawn)]
    if len(defined) < (1 - _UNDEFINED) * len(drawn):
        return None
    tail = (1 - confidence) / 2
    tails = np.asarray([tail, 1 - tail])
    if method == "bca":
        tails = _bca_tails(units, figure, defined, tails)
    low, high = np.quantile(defined, tails)
    return float(low), float(high)


def draws(units: int, figure: Figure, resamples: int, seed: int) -> Floats:
    """`figure` of `resamples` resamples [resamples] of the units, with replacement."""
    rng = np.random.default_rng(seed)
    chunks = [figure(rng.integers(0, units, (_CHUNK, units))) for _ in range(resamples // _CHUNK)]
    return np.concatenate(chunks)


def mean_p(values: Sequence[float], groups: Sequence[Hashable], resamples: int = 10_000, seed: int = 0) -> float | None:
    """Two-sided p of "the mean is 0" from resampled means: 2 min(share <= 0, share >= 0), each count one higher.

    CutCraft spec, section 9 (paired difference per prompt, 10,000 draws). None for fewer than two groups.
    """
    sums = cluster_sums(values, groups)
    if len(sums) < 2:
        return None
    means = draws(len(sums), lambda rows: ratio(sums[rows].sum(axis=1)), resamples, seed)
    side = min(int((means <= 0).sum()), int((means >= 0).sum()))
    return min(1.0, 2 * (side + 1) / (len(means) + 1))


def cluster_sums(values: Sequence[float], groups: Sequence[Hashable]) -> Floats:
    """(sum, count) of the values of each group [G, 2], groups in order of first appearance."""
    place = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(place), 2))
    for value, group in zip(values, groups, strict=True):
        sums[place[group]] += (value, 1.0)
    return sums


def ratio(sums: Floats) -> Floats:
    """First over second column of sums [R, 2]; NaN where the second is 0."""
    whole = sums[:, 1]
    found: Floats = np.divide(sums[:, 0], whole, out=np.full(len(sums), np.nan), where=whole != 0)
    return found


def _bca_tails(units: int, figure: Figure, drawn: Floats, tails: Floats) -> Floats:
    """The quantiles to read instead of `tails`, for the bias and the skew of the figure."""
    normal = NormalDist()
    point = float(figure(np.arange(units)[None])[0])
    if np.all(drawn == drawn[0]):
        return tails
    # Ties count half (discrete figures such as shares); the share is kept off 0 and 1, where the bias is not finite.
    below = np.mean(drawn < point) + np.mean(drawn == point) / 2
    bias = normal.inv_cdf(float(np.clip(below, 1 / (len(drawn) + 1), len(drawn) / (len(drawn) + 1))))
    shifted = bias + np.array([normal.inv_cdf(tail) for tail in tails])
    moved = bias + shifted / (1 - _acceleration(units, figure) * shifted)
    return np.array([normal.cdf(place) for place in moved])


def _acceleration(units: int, figure: Figure) -> float:
    """Skew of the jackknife figures, sum d^3 / (6 (sum d^2)^1.5); 0 if leaving a unit out changes nothing."""
    left = np.concatenate([figure(_leave_one_out(units, start)) for start in range(0, units, _CHUNK)])
    away = np.nanmean(left) - left
    spread = np.nansum(away**2) ** 1.5
    return float(np.nansum(away**3) / (6 * spread)) if spread > 0 else 0.0


def _leave_one_out(units: int, start: int) -> Rows:
    """Rows of all units but one [up to _CHUNK, units - 1], for the units from `start` on."""
    out = np.arange(start, min(start + _CHUNK, units))[:, None]
    kept = np.arange(units - 1)[None]
    rows: Rows = kept + (kept >= out)
    return rows
