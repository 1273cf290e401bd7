"""CLIP ViT-L/14, text tower: cosine of a text with each frame, in the space of `clip_vit_l14`.

A reference model: the user mounts `clip_text.onnx`, `vocab.json` and `merges.txt`. Contract: `tokens` [batch, 77] int64
to `embedding` [batch, 768] after the projection. A text is cut at 77 tokens, as the model was trained.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.byte_pairs import read
from evaluator.experts.features import Alignment, Embeddings
from evaluator.experts.pixels import sampling_of, unit_rows
from evaluator.media.types import F32
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need

LENGTH = 77


class ClipText(Expert):
    """capability `clip_text_image`. The option `text` is what is compared; an empty one is not applicable."""

    id = "clip_text"
    capability = "clip_text_image"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"images": ExpertNeed("clip_image", want.roles[:1], sampling_of(want))}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        return Alignment(aligned(self.sessions, self.id, "clip_text.onnx", want, inputs["images"], LENGTH, clip=True))


def aligned(  # two towers differ in their files and in nothing else
    sessions: SessionSource, model: str, file: str, want: ExpertNeed, others: Embeddings, length: int, *, clip: bool
) -> F32:
    """Cosines [N] of the request's text with unit vectors [N, D] of the other tower. Raises for another space."""
    text = str(dict(want.options).get("text", "")).strip()
    if not text:
        raise NotApplicable("not_applicable", "there is no text to compare with")
    pairs = read(sessions.path(model, "vocab.json"), sessions.path(model, "merges.txt"), clip)
    tokens = pairs.encode(text, length)[None]
    vector = unit_rows(sessions.session(model, file).run({"tokens": tokens})["embedding"])[0]
    if others.vectors.shape[1] != len(vector):
        raise ExpertError(
            f"{file} gives {len(vector)} dimensions, the other tower {others.vectors.shape[1]}: mount both towers"
        )
    return np.asarray(np.clip(others.vectors @ vector, -1.0, 1.0), np.float32)


EXPERT = ClipText
