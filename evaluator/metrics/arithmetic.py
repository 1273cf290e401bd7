"""Arithmetic that many metrics share: bounds and cosines. Plain numbers in, plain numbers out; knows no feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.errors import NotApplicable

Vector = npt.NDArray[np.floating[Any]]


def clip01(value: float) -> float:
    """The value bounded to [0, 1]. NaN stays NaN, so that a broken figure cannot turn into a score of 0."""
    return float(np.clip(value, 0.0, 1.0))


def cosine_score(cosine: float) -> float:
    """A cosine mapped from [-1, 1] to [0, 1], the convention of AVE-Compass 4.6 and 4.8: 0.5 is unrelated."""
    return clip01((cosine + 1.0) / 2.0)


def cosine(a: Vector, b: Vector) -> float:
    """Cosine of the angle between two vectors [D]. Raises NotApplicable if one has no direction (length 0)."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths == 0.0:
        raise NotApplicable("not_applicable", "An embedding has length 0, so it has no direction to compare.")
    return float(np.clip(a @ b / lengths, -1.0, 1.0))
