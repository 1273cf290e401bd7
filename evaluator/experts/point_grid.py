"""The points that trackers follow, the same for all of them: CoTracker's own grid of 10 x 10 on the first frame.

The published predictor works on 384 x 512 pictures, keeps the grid 512 / 64 = 8 pixels away from every edge there, and
scales what it finds back to the picture that it was given, corner to corner. On a square of 384 that is 6.0 .. 377.8
across and 8 .. 376 down (CoVEBench 5.2).
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F32

SIDE = 384
"""Pixels: a clip is squashed to this square, aspect ignored."""
POINTS_ACROSS = 10
COUNT = POINTS_ACROSS**2

_WIDTH, _MARGIN = 512, 512 / 64  # of the predictor's own picture


def grid() -> F32:
    """[100, 2] (x, y) in pixels of the square, row by row."""
    across = np.linspace(_MARGIN, _WIDTH - _MARGIN, POINTS_ACROSS) * (SIDE - 1) / (_WIDTH - 1)
    down = np.linspace(_MARGIN, SIDE - _MARGIN, POINTS_ACROSS)
    y, x = np.meshgrid(down, across, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1).astype(np.float32)
