"""Is motion smooth? How well a frame is predicted from its two neighbours (AVE-Compass 4.7, steps 6 and 7).

The metric sees only errors; which frames were tested is the expert's declared plan, and goes into the details. A clip
in which nothing moves is perfectly smooth, so `static` says when the score means no more than that.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import InterpolationError
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed

GREY_LEVELS = 255.0

STATIC_ERROR = 0.5
"""Grey levels: below half a level in every tested frame, the neighbours are the frame itself."""


def compute(interpolation: InterpolationError) -> Outcome:
    """(255 - d) / 255 with d = mean absolute error in grey levels, which is `raw`. NotApplicable below three frames."""
    error = interpolation.error.astype(np.float64)
    if not len(error):
        raise NotApplicable("not_applicable", "Smoothness needs three frames: one and its two neighbours.")
    d = float(error.mean())
    p50, p90, p99 = np.percentile(error, [50, 90, 99]).tolist()
    details = {
        "pairs": len(error),
        "sampled": interpolation.sampled,
        "plan": interpolation.plan,
        "percentiles": {"p50": p50, "p90": p90, "p99": p99},
        "worst_frame": int(interpolation.index[int(error.argmax())]),
        "static": bool(error.max() < STATIC_ERROR),
    }
    return Outcome(clip01((GREY_LEVELS - d) / GREY_LEVELS), raw=d, details=details)


METRIC = Metric(
    id="motion_smoothness",
    version=1,
    title="Motion smoothness",
    summary="How well every second frame is predicted by interpolating its neighbours.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.7",
    needs={"interpolation": ExpertNeed("frame_interpolation")},
    compute=compute,
)
