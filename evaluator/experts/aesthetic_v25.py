"""Aesthetic Predictor v2.5 on SigLIP so400m: how good a frame looks (AVE-Compass 4.5, CoVEBench 4.2).

A reference model: the user mounts `aesthetic_v25.onnx`, made by the export recipe from both checkpoints. The file
holds the vision tower, the division of its pooled output by its length, and the head, which has no activation and is
folded into one affine map. Contract: `pixels` [batch, 3, 384, 384] float32 in -1..1 to `score` [batch], nominally
1..10 and not clamped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import FrameAesthetics
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of
from evaluator.media.types import Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SIZE = 384
BATCH = 5
"""Both protocols take ten frames."""


class AestheticV25(Expert):
    """One figure per sampled frame, squashed to 384 x 384."""

    id: ClassVar[str] = "aesthetic_v25"
    capability: ClassVar[str] = "frame_aesthetics"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.SQUASH, SIZE, SIZE, Filter.BICUBIC)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> FrameAesthetics:
        frames: Frames = inputs["frames"]
        session = self.sessions.session(self.id, "aesthetic_v25.onnx")
        scores = run_padded(session, "pixels", normalise(frames.data, SYMMETRIC), BATCH)["score"]
        if scores.shape != (len(frames.data),):
            raise ExpertError(f"aesthetic_v25.onnx: expected [{len(frames.data)}], found {list(scores.shape)}")
        return FrameAesthetics(scores.astype(np.float32), frames.index)


EXPERT = AestheticV25
