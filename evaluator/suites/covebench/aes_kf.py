"""AES_kf (CoVEBench 4.2): the aesthetic score of key frames and of sampled frames, which is what the paper speaks of.

    AES_kf = (mean over key frames + mean over sampled frames) / 2

The key frames are those that the container marks (I-frames that a decoder can start from), at most ten of them, equally
spaced; the sampled ones are AES's own ten. The released code, which made the published values, takes the sampled ones
only: AES is that metric, and this one has no published numbers. Encoders place key frames, often at cuts, so it also
depends on how a clip was encoded.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.views import TEN_FRAMES
from evaluator.schema import ExpertNeed, Sampling

KEY_FRAMES = Sampling("key_frames", (10,))


def compute(key_frames: FrameAesthetics, sampled: FrameAesthetics) -> Outcome:
    """Mean of two means. Raises NotApplicable for a clip without frames, or whose container marks no key frame."""
    if not len(sampled.values):
        raise NotApplicable("not_applicable", "The clip has no frame.")
    if not len(key_frames.values):
        raise NotApplicable("not_applicable", "The container marks no key frame.")
    means = [float(part.values.astype(np.float64).mean()) for part in (key_frames, sampled)]
    details = {
        "key_frames": {"mean": means[0], "index": key_frames.index.tolist(), "per_frame": key_frames.values.tolist()},
        "sampled": {"mean": means[1], "index": sampled.index.tolist()},
    }
    return Outcome(sum(means) / 2, details=details)


METRIC = Metric(
    id="aes_kf",
    version=1,
    title="AES_kf",
    summary="Learned aesthetic score, half of it from key frames, nominally 1 to 10.",
    direction=Direction.HIGHER,
    range=(None, None),
    unit="",
    paper="CoVEBench 4.2",
    needs={
        "key_frames": ExpertNeed("frame_aesthetics", sampling=KEY_FRAMES),
        "sampled": ExpertNeed("frame_aesthetics", sampling=TEN_FRAMES),
    },
    compute=compute,
)
