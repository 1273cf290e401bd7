"""AES (CoVEBench 4.2): how pleasing ten frames look, by Aesthetic Predictor v2.5 on SigLIP, as the network says it.

The same expert as AVE-Compass's video aesthetic, on CoVEBench's own ten frames and without rescaling: nominally 1 to
10, not bounded. The paper speaks of key frames and sampled frames (`aes_kf`); the released code, which made the
published values, takes the ten sampled ones only, and so does this metric.

    compat   ten of as many frames as the container says there are, as the code has it: where it says too many, the last
             ones cannot be read and the mean is over fewer
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.views import TEN_FRAMES
from evaluator.schema import ExpertNeed, Sampling


def compute(aesthetics: FrameAesthetics) -> Outcome:
    """Mean over the frames. Raises NotApplicable without a frame."""
    values = aesthetics.values.astype(np.float64)
    if not len(values):
        raise NotApplicable("not_applicable", "The clip has no frame.")
    return Outcome(float(values.mean()), details={"per_frame": values.tolist(), "index": aesthetics.index.tolist()})


METRIC = Metric(
    id="aes",
    version=1,
    title="AES",
    summary="Learned aesthetic score of ten frames, nominally 1 to 10.",
    direction=Direction.HIGHER,
    range=(None, None),
    unit="",
    paper="CoVEBench 4.2",
    needs={"aesthetics": ExpertNeed("frame_aesthetics", sampling=TEN_FRAMES)},
    compute=compute,
)

COMPAT = replace(
    METRIC, needs={"aesthetics": ExpertNeed("frame_aesthetics", sampling=Sampling("equal_indices_promised", (10,)))}
)
