"""ST-LPIPS: perceptual distance between frames of two clips (Ghildyal & Liu, ECCV 2022, AlexNet trunk).

A stand-in for LPIPS that forgives shifts of a pixel or two: measured on one frame, a shift by one pixel gives 0.005,
blur 0.15, strong JPEG 0.18, noise 0.54, another scene 0.67.

Frame i of one clip meets frame i of the other, each sampled on its own length; the longer list is cut (CoVEBench 5.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import FrameDistance
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of
from evaluator.media.types import F32
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SIZE = 256


class StLpips(Expert):
    """One distance per pair of frames, both squashed to 256 x 256; 0 = equal."""

    id: ClassVar[str] = "stlpips"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "frame_distance"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        first, second = want.roles
        view = View(sampling_of(want), Fit.SQUASH, SIZE, SIZE, Filter.FFMPEG_BICUBIC)
        return {"first": FramesNeed(view, first), "second": FramesNeed(view, second)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> FrameDistance:
        count = min(len(inputs["first"].data), len(inputs["second"].data))
        if count == 0:
            raise NotApplicable("not_applicable", "One of the clips has no frame.")
        first, second = (normalise(inputs[name].data[:count], SYMMETRIC) for name in ("first", "second"))
        return FrameDistance(distances(self.sessions.session(self.id, "stlpips.onnx"), first, second))


def distances(session: Session, first: F32, second: F32) -> F32:
    """Distance of each pair of rows [N, 3, 256, 256], one pair at a time: ten at once take 1.5 GB and no less time."""
    pairs = zip(first[:, None], second[:, None], strict=True)
    found = [session.run({"first": one, "second": other})["distance"] for one, other in pairs]
    return np.concatenate(found).astype(np.float32)


EXPERT = StLpips
