"""DINOv2 ViT-B/14 image embedding: the CLS token after the final LayerNorm (AVE-Compass 4.6, CutCraft 4.4).

A reference model: the user mounts `dinov2.onnx`, made by the export recipe from the published checkpoint, with the
position table interpolated to 16 x 16 patches once and for all. Contract: `pixels` [batch, 3, 224, 224] float32,
ImageNet statistics, to `embedding` [batch, 768].

What a frame goes through is not settled between the paper and its code, hence the option `preprocess`:

* "squash224" (default): resize to 224 x 224, aspect ignored.
* "hf_crop": short side to 256, then centre crop 224, as the Hugging Face image processor and CutCraft do. Where half a
  pixel is left the crop begins where torchvision's does (`evaluator.media.views`); Hugging Face's rounds down, so that
  the square of a picture of 16:9 lies one pixel further on here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import Embeddings
from evaluator.experts.pixels import IMAGENET, normalise, sampling_of, unit_rows
from evaluator.media.types import Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SIZE = 224
SHORT_SIDE = 256
DIMENSIONS = 768
BATCH = 8


class DinoV2(Expert):
    """One unit vector [768] per sampled frame."""

    id: ClassVar[str] = "dinov2"
    capability: ClassVar[str] = "image_embedding"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        sampling = sampling_of(want)
        options: dict[str, Any] = dict(want.options)
        views = {
            "squash224": View(sampling, Fit.SQUASH, SIZE, SIZE, Filter.BICUBIC),
            "hf_crop": View(sampling, Fit.SHORT_SIDE_CROP, SHORT_SIDE, SIZE, Filter.BICUBIC),
        }
        how = options.get("preprocess", "squash224")
        if how not in views:
            raise ValueError(f"option preprocess: expected one of {sorted(views)}, found {how!r}")
        return {"frames": FramesNeed(views[how], want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        frames: Frames = inputs["frames"]
        session = self.sessions.session(self.id, "dinov2.onnx")
        vectors = run_padded(session, "pixels", normalise(frames.data, IMAGENET), BATCH)["embedding"]
        if vectors.shape != (len(frames.data), DIMENSIONS):
            raise ExpertError(f"dinov2.onnx: expected [{len(frames.data)}, {DIMENSIONS}], found {list(vectors.shape)}")
        return Embeddings(unit_rows(vectors), frames.index)


EXPERT = DinoV2
