"""LPIPS with the AlexNet trunk (Zhang et al., CVPR 2018): the published perceptual distance of two pictures.

A reference model: the user mounts `lpips_alex.onnx`. Contract: `first` and `second` [batch, 3, height, width] float32
in -1..1 to `distance` [batch]. Frames have a short side of 256; where output and source differ in shape, the second is
resized to the first (AVENUE 1.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import FrameDistance
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of
from evaluator.experts.stlpips import distances
from evaluator.media.types import U8
from evaluator.runtime.arrays import to_host
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

SHORT_SIDE = 256


class LpipsAlex(Expert):
    """capability `frame_distance`: one distance per pair of frames, paired by rank."""

    id = "lpips_alex"
    capability = "frame_distance"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        first, second = want.roles
        view = View(sampling_of(want), Fit.SHORT_SIDE, SHORT_SIDE, filter=Filter.BICUBIC)
        return {"first": FramesNeed(view, first), "second": FramesNeed(view, second)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> FrameDistance:
        count = min(len(inputs["first"].data), len(inputs["second"].data))
        if count == 0:
            raise NotApplicable("not_applicable", "One of the clips has no frame.")
        one, other = (inputs[name].data[:count] for name in ("first", "second"))
        first, second = normalise(one, SYMMETRIC), normalise(resized(other, one.shape[1:3]), SYMMETRIC)
        return FrameDistance(distances(self.sessions.session(self.id, "lpips_alex.onnx"), first, second))


def resized(frames: U8, size: tuple[int, int]) -> U8:
    """Frames [N, H, W, 3] at another (height, width), by area."""
    if frames.shape[1:3] == size:
        return frames
    pictures = to_host(frames)  # the one step that only the host has: no other library means the same by "area"
    return np.stack([cv2.resize(one, size[::-1], interpolation=cv2.INTER_AREA) for one in pictures]).astype(np.uint8)


EXPERT = LpipsAlex
