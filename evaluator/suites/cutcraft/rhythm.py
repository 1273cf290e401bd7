"""B2 of CutCraft: does the motion follow the music, and does the sound at each cut fit its optical effect? (spec 7)

What is music is for its caller to say: stems, or the whole mix. Without an answer there is no number; the reference
writes 0.5 (D-21).
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F32, F64
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.correlation import pearson
from evaluator.suites.cutcraft.labels import FLASHES, Optical
from evaluator.suites.cutcraft.motion import Motion

HOPS_PER_SECOND = 8
WEIGHTS = 0.65, 0.35  # following, fitting
NARROW, WIDE = 0.2, 0.5  # seconds on each side of a cut
SHORTEST_WIDE = 0.25  # seconds
QUIET = 0.015  # RMS below which there is no music
MIN_COMMON = 4


def hop_levels(samples: F32 | F64, rate: int) -> F64:
    """RMS of consecutive eighths of a second [K]; a last part that is not full is left out."""
    hop = rate // HOPS_PER_SECOND
    whole = np.asarray(samples[: len(samples) // hop * hop], np.float64).reshape(-1, hop)
    return np.asarray(np.sqrt(np.square(whole).mean(axis=1)))


def following(levels: F64, moved: Motion, by_position: bool = False) -> float | None:
    """(r + 1) / 2 of music level and motion energy at equal times; None where one does not vary or little is common.

    `by_position` pairs the k-th values, as the reference does (D-05).
    """
    place = (
        np.arange(len(moved.time)) if by_position else np.floor(moved.time * HOPS_PER_SECOND + 1e-6).astype(np.int64)
    )
    common = (place >= 0) & (place < len(levels))
    x, y = levels[place[common]], moved.energy[common]
    if len(x) < MIN_COMMON or min(float(x.std()), float(y.std())) <= 1e-8:
        return None
    return (pearson(x, y) + 1.0) / 2.0


def fit_of_cut(samples: F32 | F64, rate: int, cut: float, optical: Optical) -> float | None:
    """How well the rise of sound at a cut suits its effect; None if there is too little sound around it.

    A flash wants an accent, a dissolve wants none; for other effects the spec has 0.7.
    """
    wide = _around(samples, rate, cut, WIDE)
    if len(wide) < SHORTEST_WIDE * rate:
        return None
    if optical not in {*FLASHES, Optical.DISSOLVE}:
        return 0.7
    ratio = _level(_around(samples, rate, cut, NARROW)) / (_level(wide) + 1e-8)
    if optical in FLASHES:
        return 1.0 if ratio > 1.5 else 0.6 if ratio > 1.0 else 0.3
    return 1.0 if ratio < 1.3 else 0.5 if ratio < 2.0 else 0.2


def rhythm_score(follow: float, fit: float) -> float:
    """B2 from both parts."""
    return clip01(WEIGHTS[0] * follow + WEIGHTS[1] * fit)


def has_music(samples: F32 | F64) -> bool:
    """False if it is so quiet that it cannot be music."""
    return _level(samples) >= QUIET


def _around(samples: F32 | F64, rate: int, cut: float, seconds: float) -> F32 | F64:
    return samples[max(0, round((cut - seconds) * rate)) : max(0, round((cut + seconds) * rate))]


def _level(samples: F32 | F64) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0
