"""How pleasing the frames look, by a learned aesthetic score (AVE-Compass 4.5). Needs the mounted reference model."""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed, Sampling


def compute(aesthetics: FrameAesthetics) -> Outcome:
    """clip01(mean / 10); `raw` is the mean over ten frames. Raises NotApplicable without a frame."""
    values = aesthetics.values.astype(np.float64)
    if not len(values):
        raise NotApplicable("not_applicable", "The clip has no frame.")
    raw = float(values.mean())
    return Outcome(
        clip01(raw / 10.0), raw=raw, details={"per_frame": values.tolist(), "index": aesthetics.index.tolist()}
    )


METRIC = Metric(
    id="video_aesthetic",
    version=1,
    title="Video aesthetic",
    summary="Learned aesthetic score of ten frames.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.5",
    needs={"aesthetics": ExpertNeed("frame_aesthetics", sampling=Sampling("ave_f1", (10,)))},
    compute=compute,
)
