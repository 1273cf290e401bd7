"""E2: how good do the pictures look? Mean aesthetic score of 32 frames, a tenth of it (MUSIQ is not scored, D-26)."""

from __future__ import annotations

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ExpertNeed, Sampling
from evaluator.suites.cutcraft.dimensions.card import signal_metric
from evaluator.suites.cutcraft.flags import Defects

FRAMES = 32


def compute(aesthetics: FrameAesthetics) -> Outcome:
    """Mean over the frames, a tenth of it; `raw` is the mean."""
    if not len(aesthetics.values):
        raise NotApplicable("not_applicable", "The clip has no frame.")
    mean = float(aesthetics.values.astype(float).mean())
    return Outcome(clip01(mean / 10.0), mean, {"frames": len(aesthetics.values)})


def metric(defects: Defects) -> Metric:
    """E2, equal in both profiles."""
    return signal_metric(
        "E2",
        "Image quality",
        "Mean learned aesthetic score of 32 frames; the published head is LAION's on CLIP ViT-L/14.",
        compute,
        {"aesthetics": ExpertNeed("frame_aesthetics", sampling=Sampling("linspace_floor", (FRAMES,)))},
        stands_in_for={"frame_aesthetics": "LAION aesthetic head sa_0_4_vit_l_14_linear"},
        version=2,
    )
