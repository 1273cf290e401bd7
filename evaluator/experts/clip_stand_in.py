"""In place of CLIP's image tower: whatever serves `image_embedding`. It has no text side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.experts.composed import Composed
from evaluator.experts.features import Embeddings
from evaluator.schema import ExpertNeed, Need


class ClipStandIn(Composed):
    """capability `clip_image`."""

    id = "clip_stand_in"
    capability = "clip_image"
    stands_in_for = "CLIP ViT-L/14"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"images": ExpertNeed("image_embedding", want.roles[:1], want.sampling)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        found: Embeddings = inputs["images"]
        return found


EXPERT = ClipStandIn
