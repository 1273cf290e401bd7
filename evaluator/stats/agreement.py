"""Agreement of two raters beyond chance, from their confusion matrix. Knows counts only.

All functions take matrices [..., K, K] (rows: first rater, columns: second) and return [...], so that a bootstrap over
thousands of matrices is one call. NaN where a coefficient does not exist: no rating, or no disagreement possible.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Weights = Literal["none", "linear", "quadratic"]


def confusion(first: Sequence[Hashable], second: Sequence[Hashable], categories: Sequence[Hashable]) -> Floats:
    """How often the first rater said row while the second said column [K, K]. KeyError for another category."""
    place = {category: index for index, category in enumerate(categories)}
    counts = np.zeros((len(categories), len(categories)))
    for ours, theirs in zip(first, second, strict=True):
        counts[place[ours], place[theirs]] += 1
    return counts


def observed(counts: Floats) -> Floats:
    """Share of equal ratings, 0 .. 1."""
    return _over(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)))


def cohen_kappa(counts: Floats, weights: Weights = "none") -> Floats:
    """1 - (observed disagreement) / (disagreement expected from the marginals), up to 1.

    Cohen (1960); weighted by the distance of the categories or its square: Cohen (1968).
    """
    cost = _cost(counts.shape[-1], weights)
    shares = _over(counts, counts.sum(axis=(-2, -1), keepdims=True))
    chance = shares.sum(axis=-1)[..., :, None] * shares.sum(axis=-2)[..., None, :]
    return 1.0 - _over((cost * shares).sum(axis=(-2, -1)), (cost * chance).sum(axis=(-2, -1)))


def gwet_ac1(counts: Floats) -> Floats:
    """(p_o - p_e) / (1 - p_e) with p_e = sum pi_k (1 - pi_k) / (K - 1), pi_k the mean of both marginals.

    Gwet (2008). Unlike kappa it does not collapse when nearly all ratings fall into one category.
    """
    shares = _over(counts, counts.sum(axis=(-2, -1), keepdims=True))
    mean = (shares.sum(axis=-1) + shares.sum(axis=-2)) / 2
    chance = (mean * (1 - mean)).sum(axis=-1) / (counts.shape[-1] - 1)
    return _over(observed(counts) - chance, 1 - chance)


def _cost(categories: int, weights: Weights) -> Floats:
    """Price of each disagreement [K, K], 0 on the diagonal."""
    distance = np.abs(np.subtract.outer(np.arange(categories), np.arange(categories))).astype(np.float64)
    costs: dict[Weights, Floats] = {"none": np.sign(distance), "linear": distance, "quadratic": distance**2}
    return costs[weights]


def _over(part: Floats, whole: Floats) -> Floats:
    part, whole = np.broadcast_arrays(np.asarray(part, np.float64), np.asarray(whole, np.float64))
    found: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0)
    return found
