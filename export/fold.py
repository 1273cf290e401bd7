"""A chain of linear layers without activations as the one affine map that it is: the head of Aesthetic Predictor v2.5.

Whoever exports `aesthetic_v25.onnx` multiplies the pooled, normalised features by this vector instead of running five
layers (AVE-Compass 4.5: the difference is below 2e-7). Dropout does nothing at inference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Layer = tuple[npt.ArrayLike, npt.ArrayLike]
"""Weight [out, in] and bias [out], as torch keeps them."""


def fold(layers: Sequence[Layer]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Weight [out, in] and bias [out] of the whole chain, first layer first, in float64."""
    weight, bias = (np.asarray(part, np.float64) for part in layers[0])
    for inner in layers[1:]:
        matrix, shift = (np.asarray(part, np.float64) for part in inner)
        weight, bias = matrix @ weight, matrix @ bias + shift
    return weight, bias
