"""Motion smoothness of CoVEBench 4.3: do consecutive optical flows keep direction and size?

Ten frames over the whole clip, whatever its length, so neighbours may be a second apart, and a cut reads as rough
motion. A pixel that moves in neither flow has no say; a pair without any moving pixel counts as smooth.
"""

from __future__ import annotations

from itertools import pairwise

import cv2
import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F64, U8, Frames
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.views import GRAY_224
from evaluator.schema import FramesNeed

EPS = 1e-6
MOVING = 0.05  # pixels
DIRECTION_WEIGHT, MAGNITUDE_WEIGHT = 0.7, 0.3


def farneback(a: U8, b: U8) -> F64:
    """Dense optical flow [H, W, 2] in pixels from picture a to b [H, W]."""
    flow = cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 3, 15, 3, 5, 1.2, 0)  # type: ignore[call-overload]
    return np.asarray(flow, np.float64)


def size(flow: F64) -> F64:
    """Length [...] in pixels of every vector of a flow [..., 2]."""
    x, y = flow[..., 0], flow[..., 1]
    return np.asarray(np.sqrt(x * x + y * y))  # a quarter of the time of a norm along an axis of two


def pair_score(f: F64, g: F64) -> float:
    """Agreement in [0, 1] of two consecutive flows [..., 2] over the pixels that move in either; 1 if none does."""
    size_f, size_g = size(f), size(g)
    active = (size_f > MOVING) | (size_g > MOVING)
    if not active.any():
        return 1.0
    product = f[..., 0] * g[..., 0] + f[..., 1] * g[..., 1]
    direction = (np.clip(product / (size_f * size_g + EPS), -1.0, 1.0) + 1.0) / 2.0
    magnitude = 1.0 - np.abs(size_f - size_g) / (size_f + size_g + EPS)
    score = np.clip(DIRECTION_WEIGHT * direction + MAGNITUDE_WEIGHT * magnitude, 0.0, 1.0)
    return float(score[active].mean())


def compute(frames: Frames) -> Outcome:
    """Mean pair score; details list the pairs. Raises NotApplicable for fewer than three frames."""
    pictures = frames.data[..., 0]
    if len(pictures) < 3:
        raise NotApplicable("not_applicable", f"Two flows need three frames; the clip has {len(pictures)}.")
    flows = [farneback(a, b) for a, b in pairwise(pictures)]
    scores = [pair_score(f, g) for f, g in pairwise(flows)]
    speed = float(np.mean([size(flow).mean() for flow in flows]))
    details = {"per_pair": scores, "index": frames.index.tolist(), "mean_flow_px": speed}
    return Outcome(float(np.mean(scores)), details=details)


METRIC = Metric(
    id="msm",
    version=1,
    title="Motion smoothness (flow)",
    summary="How well direction and size of the optical flow carry over between ten frames.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="CoVEBench 4.3",
    needs={"frames": FramesNeed(GRAY_224)},
    compute=compute,
)
