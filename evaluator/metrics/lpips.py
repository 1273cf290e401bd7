"""Perceptual distance of output and source: mean over ten frame pairs of a learned distance; 0 = equal pictures."""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameDistance
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.views import TEN_FRAMES
from evaluator.schema import ExpertNeed


def compute(distance: FrameDistance) -> Outcome:
    """Mean distance, lower is better; details list the pairs. Raises NotApplicable without a pair."""
    values = distance.values.astype(np.float64)
    if not len(values):
        raise NotApplicable("not_applicable", "A clip has no frame.")
    return Outcome(float(values.mean()), details={"per_pair": values.tolist()})


METRIC = Metric(
    id="lpips",
    version=1,
    title="LPIPS",
    summary="Learned perceptual distance between ten frames of output and source.",
    direction=Direction.LOWER,
    range=(0.0, None),
    unit="",
    paper="LPIPS (Zhang et al.; CVPR 2018), frames as CoVEBench 5.1",
    needs={"distance": ExpertNeed("frame_distance", ("video", "source"), TEN_FRAMES)},
    compute=compute,
)
