"""SAM 2, hiera-large, as a tracker of objects (Ravi et al., 2024): on which pixels the grounded objects are.

A reference model in two files that the user mounts, with the memory of the tracker as one opaque array between them:
`sam2_start.onnx` takes a frame and boxes, `sam2_step.onnx` every further frame. Contract: `pixels` [1, 3, 1024, 1024]
float32, RGB, ImageNet statistics, and `boxes` [K, 4] float32 (x1, y1, x2, y2 in pixels of that square) or `past`
[K, M] float32, the memory so far, to `masks` [K, 256, 256] (logits) and `memory` [K, M]. Every accepted box is an
object of its own. Frames become squares by Pillow's bicubic filter, as in the authors' predictor.

A box is accepted from score 0.30 up, and up to 0.55 of the picture (CoVEBench 5.3). The option `box_frame` says where
an object that was found on probed frame 1 or 2 begins: "found" (default), on that frame, or "first", as the reference
does, on frame 0, where it may not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cv2
import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import GroundedBoxes, RegionMasks
from evaluator.experts.pixels import IMAGENET, normalise
from evaluator.experts.regions import MASK_FRAMES, choice, only, picture_view
from evaluator.media.types import F32, U8, Bool, Frames
from evaluator.media.views import target_size
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

START, STEP = "sam2_start.onnx", "sam2_step.onnx"
SIDE, MASK_SIDE = 1024, 256
LEAST_SCORE, MOST_AREA = 0.30, 0.55


class Sam2(Expert):
    """The union of the objects' masks on each frame, at the size at which regions are compared."""

    id: ClassVar[str] = "sam2"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "region_masks"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(MASK_FRAMES, Fit.SQUASH, SIDE, SIDE, Filter.BICUBIC)
        boxes = ExpertNeed("grounded_boxes", want.roles[:1], options=only(want, "phrases"))
        return {"boxes": boxes, "frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> RegionMasks:
        boxes: GroundedBoxes = inputs["boxes"]
        frames: Frames = inputs["frames"]
        begins = boxes.frame if choice(want, "box_frame", ("found", "first")) == "found" else boxes.frame * 0
        taken = accepted(boxes)
        width, height = _compared_size(frames)
        union: Bool = np.zeros((len(frames.data), height, width), bool)
        for first in sorted({int(row) for row in begins[taken]}):
            self._track(frames.data, first, boxes.box[taken & (begins == first)], union)
        return RegionMasks(
            bits=np.packbits(union.reshape(len(union), -1), axis=1),
            height=height,
            width=width,
            kept=tuple(phrase for phrase, one in zip(boxes.phrases, taken, strict=True) if one),
            dropped=tuple(phrase for phrase, one in zip(boxes.phrases, taken, strict=True) if not one),
            index=frames.index,
        )

    def _track(self, frames: U8, first: int, boxes: F32, union: Bool) -> None:
        """Add to `union` [T, H, W] the masks of objects that begin on frame `first` in these boxes [K, 4]."""
        start, step = self.sessions.session(self.id, START), self.sessions.session(self.id, STEP)
        feeds: dict[str, Any] = {"boxes": boxes * np.float32(SIDE)}
        for row in range(first, len(frames)):
            session = start if row == first else step
            masks, memory = _masks(session, {"pixels": normalise(frames[row][None], IMAGENET), **feeds}, len(boxes))
            union[row] |= inside(masks, *union.shape[1:])
            feeds = {"past": memory}


def accepted(boxes: GroundedBoxes) -> Bool:
    """[P] True for boxes that are likely enough and small enough to be one thing."""
    good: Bool = (boxes.score >= LEAST_SCORE) & (boxes.area <= MOST_AREA)
    return good


def inside(masks: F32, height: int, width: int) -> Bool:
    """[H, W] True where a mask [K, h, w] of logits, enlarged bilinearly, is above 0."""
    large = [cv2.resize(mask, (width, height), interpolation=cv2.INTER_LINEAR) > 0 for mask in masks]
    return np.asarray(np.logical_or.reduce(large), bool)


def _masks(session: Session, feeds: Mapping[str, Any], objects: int) -> tuple[F32, F32]:
    found = session.run(feeds)
    if found["masks"].shape != (objects, MASK_SIDE, MASK_SIDE):
        raise ExpertError(f"sam2: expected [{objects}, {MASK_SIDE}, {MASK_SIDE}], found {list(found['masks'].shape)}")
    return found["masks"], found["memory"]


def _compared_size(frames: Frames) -> tuple[int, int]:
    """(width, height) at which regions are compared."""
    video = frames.clip.video
    if video is None:
        raise NotApplicable("not_applicable", "The clip has no pictures.")
    return target_size(picture_view(MASK_FRAMES), video.width, video.height)


EXPERT = Sam2
