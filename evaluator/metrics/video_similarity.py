"""Did the pictures survive an edit of the sound? Cosine of the mean frame embeddings of output and source.

The shape of AVE-Compass 4.8 (eight frames per clip, (rho + 1) / 2) with an image embedding averaged over the frames in
place of VideoCLIP-XL: it sees what is in the frames, not in which order.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import Embeddings
from evaluator.media.types import F64
from evaluator.metrics.arithmetic import cosine, cosine_score
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed, Sampling

FRAMES = 8
EIGHT_FRAMES = Sampling("linspace", (FRAMES,))


def mean_vector(embeddings: Embeddings) -> F64:
    """Mean [D] over eight frames; in a shorter clip the last frame counts for those that are missing."""
    count = len(embeddings.vectors)
    if not count:
        raise NotApplicable("not_applicable", "The clip has no frame.")
    rows = np.minimum(np.arange(max(FRAMES, count)), count - 1)
    mean: F64 = embeddings.vectors.astype(np.float64)[rows].mean(axis=0)
    return mean


def compute(output: Embeddings, source: Embeddings) -> Outcome:
    """(rho + 1) / 2 in [0, 1]; `raw` is the cosine rho of the mean vectors."""
    rho = cosine(mean_vector(output), mean_vector(source))
    return Outcome(
        cosine_score(rho),
        raw=rho,
        details={"output_frames": len(output.vectors), "source_frames": len(source.vectors)},
    )


METRIC = Metric(
    id="video_similarity",
    version=1,
    title="Video similarity",
    summary="Similarity of the pictures of output and source, from eight frames each.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.8, with an image embedding in place of VideoCLIP-XL",
    needs={
        "output": ExpertNeed("image_embedding", ("video",), EIGHT_FRAMES),
        "source": ExpertNeed("image_embedding", ("source",), EIGHT_FRAMES),
    },
    compute=compute,
    stands_in_for={"image_embedding": "VideoCLIP-XL"},
)
