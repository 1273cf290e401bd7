"""DINOv2 ViT-S/14 on what masks cut out of two clips: how alike the same objects look, frame by frame (CoVEBench 5.3).

A reference model: the user mounts `dinov2_small.onnx`. Contract: `pixels` [batch, 3, 224, 224] float32, ImageNet
statistics, to `embedding` [batch, 384], the CLS token.

Frame i of the first clip meets frame i of the second, brought to the first one's size. Where the first clip shows less
than 64 pixels of the objects, the frame does not count; where only the second one does, it is `missing`. What is left
is cut out by the mask's own bounding box, 15 % larger on each side, black outside the mask.

The option `pictures` says which frames are looked at: "masked" (default), those that the masks were made for, or
"stride", as the reference does, a whole number of frames apart, which is up to a second away from them. There may be
more of those than masks: what has no mask shows nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cv2
import numpy as np
from PIL import Image

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import RegionMasks, RegionSimilarity
from evaluator.experts.pixels import IMAGENET, normalise, unit_rows
from evaluator.experts.regions import MASK_FRAMES, STRIDE_FRAMES, choice, only, picture_view
from evaluator.media.types import I64, U8, Bool
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, FramesNeed, Need

FILE = "dinov2_small.onnx"
SIZE, SHORT_SIDE, DIMENSIONS, BATCH = 224, 256, 384, 8
LEAST_PIXELS = 64
MARGIN = 0.15


class DinoV2Small(Expert):
    """Cosines of the objects in the clips of two roles; masks are made for each by its own phrases' boxes."""

    id: ClassVar[str] = "dinov2_small"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "region_similarity"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        stride = choice(want, "pictures", ("masked", "stride")) == "stride"
        view = picture_view(STRIDE_FRAMES if stride else MASK_FRAMES)
        options = only(want, "phrases", "box_frame")
        first, second = want.roles
        return {
            "first_masks": ExpertNeed("region_masks", (first,), options=options),
            "second_masks": ExpertNeed("region_masks", (second,), options=options),
            "first": FramesNeed(view, first),
            "second": FramesNeed(view, second),
        }

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> RegionSimilarity:
        masks: tuple[RegionMasks, RegionMasks] = (inputs["first_masks"], inputs["second_masks"])
        pictures: tuple[U8, U8] = (inputs["first"].data, inputs["second"].data)
        count = min(map(len, pictures))
        pairs = [_pair(masks, pictures, row) for row in range(count)]
        counted = [pair for pair in pairs if pair is not None]
        missing = np.array([second is None for _, second in counted], bool)
        cosine = np.full(len(counted), -1.0, np.float32)
        crops = [crop for first, second in counted if second is not None for crop in (first, second)]
        if crops:
            vectors = self._embed(np.stack(crops))
            cosine[~missing] = np.einsum("nd,nd->n", vectors[0::2], vectors[1::2])
        return RegionSimilarity(cosine, missing, (masks[0].kept, masks[1].kept), count)

    def _embed(self, crops: U8) -> Any:
        """[N, 384] unit vectors of pictures [N, 224, 224, 3]."""
        session = self.sessions.session(self.id, FILE)
        vectors = run_padded(session, "pixels", normalise(crops, IMAGENET), BATCH)["embedding"]
        if vectors.shape != (len(crops), DIMENSIONS):
            raise ExpertError(f"{FILE}: expected [{len(crops)}, {DIMENSIONS}], found {list(vectors.shape)}")
        return unit_rows(vectors)


def _pair(masks: tuple[RegionMasks, RegionMasks], pictures: tuple[U8, U8], row: int) -> tuple[U8, U8 | None] | None:
    """The objects of one frame of both clips; None if the first shows nothing, None for the second if it does not."""
    ours, theirs = (_mask(one, row) for one in masks)
    if ours.sum() < LEAST_PIXELS:
        return None
    picture, size = pictures[1][row], ours.shape[::-1]
    if theirs.shape != ours.shape:
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
        theirs = cv2.resize(theirs.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST).astype(bool)
    first = prepared(cut(pictures[0][row], ours))
    return first, (prepared(cut(picture, theirs)) if theirs.sum() >= LEAST_PIXELS else None)


def _mask(masks: RegionMasks, row: int) -> Bool:
    """[H, W] the mask of a picture; empty where masks have come to an end."""
    return masks.mask(row) if row < len(masks.index) else np.zeros((masks.height, masks.width), bool)


def crop_box(mask: Bool) -> tuple[int, int, int, int]:
    """(x1, y1, x2, y2) of the bounding box of a mask [H, W], 15 % of its size larger on each side, inside the picture.

    >>> mask = np.zeros((100, 200), bool); mask[40:60, 50:90] = True; crop_box(mask)
    (44, 37, 96, 63)
    """
    x1, x2 = _grown(np.flatnonzero(mask.any(axis=0)), mask.shape[1])
    y1, y2 = _grown(np.flatnonzero(mask.any(axis=1)), mask.shape[0])
    return x1, y1, x2, y2


def _grown(places: I64, size: int) -> tuple[int, int]:
    """First and one past the last of ascending places, moved apart and kept inside 0..size."""
    low, high = int(places[0]), int(places[-1]) + 1
    extra = round(MARGIN * (high - low))
    return max(0, low - extra), min(size, high + extra)


def cut(picture: U8, mask: Bool) -> U8:
    """The part of a picture [H, W, 3] around a mask [H, W], black outside the mask."""
    x1, y1, x2, y2 = crop_box(mask)
    return np.where(mask[y1:y2, x1:x2, None], picture[y1:y2, x1:x2], 0).astype(np.uint8)


def prepared(crop: U8) -> U8:
    """[224, 224, 3]: short side to 256, bicubic, then the middle."""
    height, width = crop.shape[:2]
    short = min(height, width)
    size = (max(SHORT_SIDE, width * SHORT_SIDE // short), max(SHORT_SIDE, height * SHORT_SIDE // short))
    scaled = np.asarray(Image.fromarray(crop).resize(size, Image.Resampling.BICUBIC))
    top, left = (scaled.shape[0] - SIZE) // 2, (scaled.shape[1] - SIZE) // 2
    return scaled[top : top + SIZE, left : left + SIZE]


EXPERT = DinoV2Small
