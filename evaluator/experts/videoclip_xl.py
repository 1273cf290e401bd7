"""VideoCLIP-XL: one vector for eight frames of a clip, in their order (AVE-Compass 4.8).

A reference model: the user mounts `videoclip_xl.onnx`, the vision encoder with its projection. Contract: `frames`
[batch, 8, 3, 224, 224] float32, ImageNet statistics, to `embedding` [batch, 768]. There is one way to load it: the
published code falls back to networks with random weights, this one does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import IMAGENET, normalise, sampling_of, unit_rows
from evaluator.media.types import Frames
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

FILE = "videoclip_xl.onnx"
SIZE = 224
FRAMES = 8
DIMENSIONS = 768


class VideoClipXl(Expert):
    """capability `video_embedding`: one unit vector per clip. A shorter clip repeats its last frame."""

    id: ClassVar[str] = "videoclip_xl"
    capability: ClassVar[str] = "video_embedding"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.SQUASH, SIZE, SIZE, Filter.BICUBIC)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        frames: Frames = inputs["frames"]
        rows = np.minimum(np.arange(FRAMES), len(frames.data) - 1)
        pixels = normalise(frames.data[rows], IMAGENET)[None]
        vectors = self.sessions.session(self.id, FILE).run({"frames": pixels})["embedding"]
        if vectors.shape != (1, DIMENSIONS):
            raise ExpertError(f"{FILE}: expected [1, {DIMENSIONS}], found {list(vectors.shape)}")
        return Embeddings(unit_rows(vectors), frames.index)


EXPERT = VideoClipXl
