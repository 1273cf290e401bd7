"""Pairwise preferences: who agrees with whom about which of two outputs is better. Knows signs and scores only.

A preference is 1 (the first output is better), -1 (the second) or 0 (a tie), NaN where nobody judged. Arrays of
people's preferences are [P, H]: pairs x annotators.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

TIE = 1e-6
"""Scores closer than this are equal (MultiRef-Compass spec, section 6); records carry seven digits."""


def sign(delta: Floats, threshold: float = TIE) -> Floats:
    """Preferences of scores: the sign of their difference, 0 within the threshold. NaN stays NaN."""
    found: Floats = np.where(np.isnan(delta), np.nan, np.sign(delta) * (np.abs(delta) > threshold))
    return found


def majority(signs: Floats) -> Floats:
    """The preference that most annotators share [P, H] -> [P]: the sign of the sum, so an even split is a tie."""
    known = ~np.isnan(signs).all(axis=-1)
    found: Floats = np.where(known, np.sign(np.nansum(signs, axis=-1)), np.nan)
    return found


def agreements(first: Floats, second: Floats) -> Floats:
    """(equal, compared) for each element [..., 2]: compared where neither side has a tie or is missing.

    AVENUE spec, section 5.2: ties of either side are excluded, not counted as half.
    """
    compared = (np.nan_to_num(first) != 0) & (np.nan_to_num(second) != 0)
    return np.stack([compared & (first == second), compared], axis=-1).astype(np.float64)


def between_annotators(signs: Floats) -> Floats:
    """(equal, compared) per pair of outputs [P, 2], over all pairs of annotators of `signs` [P, H]."""
    ours, theirs = np.triu_indices(signs.shape[1], k=1)
    counted: Floats = agreements(signs[:, ours], signs[:, theirs]).sum(axis=1)
    return counted


def leave_one_out(signs: Floats) -> Floats:
    """(equal, compared) per pair and annotator [P, H, 2]: each annotator against the majority of the others."""
    return agreements(signs, others(signs))


def leave_one_out_of(judge: Floats, signs: Floats) -> Floats:
    """(equal, compared) per pair and annotator [P, H, 2]: a judge [P] against the majority of all but that one."""
    return agreements(np.broadcast_to(judge[:, None], signs.shape), others(signs))


def others(signs: Floats) -> Floats:
    """Majority without each annotator in turn [P, H]; 0 if the others are split, NaN if there are none."""
    sums = np.nansum(signs, axis=1, keepdims=True) - np.nan_to_num(signs)
    count = (~np.isnan(signs)).sum(axis=1, keepdims=True) - ~np.isnan(signs)
    found: Floats = np.where(count > 0, np.sign(sums), np.nan)
    return found


def adaptive_threshold(deltas: Sequence[float] | Floats, tie_share: float) -> float:
    """The |delta| below which a metric calls a tie, so that it calls as many ties as people do.

    CoVEBench spec, section 8.3: the X-th percentile of |delta| (linear) for X % human ties; below 0, which no |delta|
    reaches, when people see no tie.
    """
    if tie_share == 0:
        return -1.0
    return float(np.percentile(np.abs(deltas), 100 * tie_share))


def win_rates(winners: Sequence[tuple[Hashable, Hashable, float]]) -> dict[Hashable, float]:
    """System -> wins / comparisons, from (first, second, preference). A tie gives half a win to each side.

    MultiRef-Compass spec, section 6.
    """
    won: dict[Hashable, float] = {}
    met: dict[Hashable, int] = {}
    for first, second, preference in winners:
        for system, share in ((first, (1 + preference) / 2), (second, (1 - preference) / 2)):
            won[system] = won.get(system, 0.0) + share
            met[system] = met.get(system, 0) + 1
    return {system: won[system] / met[system] for system in won}
