"""How the sound of one shot gives way to that of the next: J, L or straight, mixed or replaced, over a bed and a floor.

A J-cut's incoming sound starts before the picture cut, an L-cut's outgoing sound ends after it. While both play they
are summed, as editing software does with two tracks; with `overlap` off the other one stops where this one starts.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64
from evaluator.suites.cutcraft.lab.recipe import CUT, SOUND_RATE, Recipe
from evaluator.suites.cutcraft.labels import Relation

BED_DB = -14.0
"""Level of the sound under everything, relative to the shots' sounds."""


def edges(recipe: Recipe) -> tuple[float, float]:
    """(seconds at which the incoming sound begins, seconds at which the outgoing one ends)."""
    if recipe.relation is Relation.STRAIGHT:
        return CUT, CUT
    moved = CUT - recipe.offset if recipe.relation is Relation.J_CUT else CUT + recipe.offset
    if not recipe.overlap:
        return moved, moved
    return min(moved, CUT), max(moved, CUT)


def bridged(first: F64, second: F64, bed: F64 | None, recipe: Recipe) -> F64:
    """Two sounds [T] of full length -> the clip's sound [T]."""
    time = np.arange(len(first)) / SOUND_RATE
    begins, ends = edges(recipe)
    noise = recipe.floor * np.random.RandomState(recipe.seed + 1).standard_normal(len(first))
    mixed = first * (1.0 - _rise(time, ends, recipe.crossfade)) + second * _rise(time, begins, recipe.crossfade) + noise
    return mixed if bed is None else mixed + bed * 10.0 ** (BED_DB / 20.0)


def _rise(time: F64, at: float, seconds: float) -> F64:
    """0 before, 1 after; a straight line of `seconds` around `at`."""
    if seconds == 0.0:
        return (time >= at).astype(np.float64)
    return np.asarray(np.clip((time - at) / seconds + 0.5, 0.0, 1.0))
