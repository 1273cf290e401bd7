"""Does the subject keep its looks? Mean cosine of neighbouring frames in an image embedding (AVE-Compass 4.6)."""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import Embeddings
from evaluator.media.types import F64
from evaluator.metrics.arithmetic import cosine_score
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed, Sampling


def adjacent_cosine(vectors: F64) -> float:
    """Mean dot product of consecutive unit vectors [N, D], N >= 2."""
    return float(np.einsum("nd,nd->n", vectors[1:], vectors[:-1]).mean())


def pairwise_cosine(vectors: F64) -> float:
    """Mean dot product over all unordered pairs of rows [N, D], N >= 2, from the length of their sum."""
    count, total = len(vectors), vectors.sum(axis=0)
    return float((total @ total - np.square(vectors).sum()) / (count * (count - 1)))


def compute(embeddings: Embeddings) -> Outcome:
    """(adjacent cosine + 1) / 2; `raw` is the cosine. Raises NotApplicable for fewer than two frames."""
    vectors = embeddings.vectors.astype(np.float64)
    if len(vectors) < 2:
        raise NotApplicable("not_applicable", f"Consistency needs two frames; the clip has {len(vectors)}.")
    adjacent = adjacent_cosine(vectors)
    details = {"pairwise_cosine": pairwise_cosine(vectors), "frames": len(vectors)}
    return Outcome(cosine_score(adjacent), raw=adjacent, details=details)


METRIC = Metric(
    id="subject_consistency",
    version=1,
    title="Subject consistency",
    summary="Similarity of neighbouring frames among 50 spread over the clip, in an image embedding.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.6",
    needs={"embeddings": ExpertNeed("image_embedding", sampling=Sampling("linspace", (50,)))},
    compute=compute,
)
