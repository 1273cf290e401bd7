"""Structural similarity of output and source (CoVEBench 5.1): ten gray frames of each, paired by rank.

The Gaussian-free variant that scikit-image computes by default: 7 x 7 uniform window, sample covariance, interior only.
Frames are paired by rank and not by time, so a clip of another length is compared at equal fractions.
"""

from __future__ import annotations

import cv2
import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F64, U8, Frames
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.views import GRAY_224
from evaluator.schema import FramesNeed

WINDOW = 7
K1, K2, DATA_RANGE = 0.01, 0.03, 255.0
C1, C2 = (K1 * DATA_RANGE) ** 2, (K2 * DATA_RANGE) ** 2
SAMPLE = WINDOW**2 / (WINDOW**2 - 1)  # from population to sample covariance


def ssim(a: U8, b: U8) -> float:
    """Mean SSIM in [-1, 1] of two gray pictures [H, W], each side at least 7."""
    x, y = a.astype(np.float64), b.astype(np.float64)
    mean_x, mean_y = _mean(x), _mean(y)
    variance_x = SAMPLE * (_mean(x * x) - mean_x * mean_x)
    variance_y = SAMPLE * (_mean(y * y) - mean_y * mean_y)
    covariance = SAMPLE * (_mean(x * y) - mean_x * mean_y)
    luminance = (2.0 * mean_x * mean_y + C1) / (mean_x * mean_x + mean_y * mean_y + C1)
    structure = (2.0 * covariance + C2) / (variance_x + variance_y + C2)
    border = WINDOW // 2
    return float((luminance * structure)[border:-border, border:-border].mean())


def _mean(x: F64) -> F64:
    """Mean over the window around each pixel."""
    return np.asarray(cv2.blur(x, (WINDOW, WINDOW)), np.float64)


def compute(output: Frames, source: Frames) -> Outcome:
    """Mean SSIM over pairs of frames, cut to the shorter list. Raises NotApplicable if a clip has no frame."""
    pairs = min(len(output.data), len(source.data))
    if not pairs:
        raise NotApplicable("not_applicable", "A clip has no frame.")
    values = [ssim(output.data[i, :, :, 0], source.data[i, :, :, 0]) for i in range(pairs)]
    details = {
        "per_pair": values,
        "output_index": output.index[:pairs].tolist(),
        "source_index": source.index[:pairs].tolist(),
    }
    return Outcome(float(np.mean(values)), details=details)


METRIC = Metric(
    id="ssim",
    version=2,
    title="SSIM",
    summary="Structural similarity of ten frames of output and source.",
    direction=Direction.HIGHER,
    range=(-1.0, 1.0),
    unit="",
    paper="CoVEBench 5.1",
    needs={"output": FramesNeed(GRAY_224, "video"), "source": FramesNeed(GRAY_224, "source")},
    compute=compute,
)
