"""Connectionist temporal classification, read greedily (Graves et al., ICML 2006, section 3.2): best path decoding.

The likeliest class of each step; repeats are one, and class 0, the blank, is nothing. Knows no alphabet of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.media.types import F32

BLANK = 0


def best_path(probability: F32, alphabet: Sequence[str]) -> tuple[str, float]:
    """(text, mean probability of its characters; 0 without any).

    probability: [T, C] of each class at each step. alphabet: C entries; that of the blank is never read.
    """
    likeliest = probability.argmax(axis=1)  # [T]
    changed = np.append(True, likeliest[1:] != likeliest[:-1])
    kept = np.flatnonzero(changed & (likeliest != BLANK))
    if not len(kept):
        return "", 0.0
    shares = probability[kept, likeliest[kept]].astype(np.float64)
    return "".join(alphabet[place] for place in likeliest[kept]), float(shares.mean())
