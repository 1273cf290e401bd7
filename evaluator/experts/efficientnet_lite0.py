"""EfficientNet-Lite0 image embedding: 1280 features of an ImageNet classifier, after global average pooling.

A stand-in for DINOv2 (AVE-Compass 4.6, CutCraft 4.4): it tells scenes and objects apart, and is blunter on fine
identity. Measured on one-shot clips: cosine 0.95 to 0.98 within a clip, 0.17 to 0.38 between clips.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of, unit_rows
from evaluator.media.types import Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SIZE = 224
BATCH = 2
"""A quarter faster than 8, for its feature maps stay in the cache; the values are the same."""


class EfficientNetLite0(Expert):
    """One unit vector [1280] per sampled frame, squashed to 224 x 224."""

    id: ClassVar[str] = "efficientnet_lite0"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "image_embedding"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.SQUASH, SIZE, SIZE, Filter.FFMPEG_BICUBIC)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        frames: Frames = inputs["frames"]
        session = self.sessions.session(self.id, "efficientnet_lite0.onnx")
        found = run_padded(session, "pixels", normalise(frames.data, SYMMETRIC), BATCH)
        return Embeddings(unit_rows(found["embedding"]), frames.index)


EXPERT = EfficientNetLite0
