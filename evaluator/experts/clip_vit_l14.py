"""CLIP ViT-L/14, image tower (Radford et al., ICML 2021): one vector per frame, in the space that texts share.

A reference model: the user mounts `clip_image.onnx`. Contract: `pixels` [batch, 3, 224, 224] float32, CLIP's mean and
deviation, to `embedding` [batch, 768] after the projection. Frames are scaled to a short side of 224 and cropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import Normalisation, normalise, sampling_of, unit_rows
from evaluator.media.types import Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SIZE = 224
BATCH = 8
CLIP = Normalisation((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


class ClipVitL14(Expert):
    """capability `clip_image`: one unit vector [768] per sampled frame."""

    id = "clip_vit_l14"
    capability = "clip_image"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.SHORT_SIDE_CROP, SIZE, SIZE, Filter.BICUBIC)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        frames: Frames = inputs["frames"]
        session = self.sessions.session(self.id, "clip_image.onnx")
        found = run_padded(session, "pixels", normalise(frames.data, CLIP), BATCH)
        return Embeddings(unit_rows(found["embedding"]), frames.index)


EXPERT = ClipVitL14
