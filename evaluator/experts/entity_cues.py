"""Faces, bodies and regions of sampled frames as vectors, to be compared with reference pictures of an entity.

A stand-in for the detectors and embedders of MultiRef-Compass EF (face detector and face embedding, person and open
vocabulary detection, DINOv2). Faces are found by MTCNN; a body is the column around and below a face; where an object
may be is not known, so nine overlapping halves of the picture are offered. All are embedded by EfficientNet-Lite0,
whose cosine of two faces says little about identity (same person 0.87 to 0.90, two people 0.62, measured on two
scenes).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import cv2
import numpy as np

from evaluator.experts.composed import Composed
from evaluator.experts.efficientnet_lite0 import BATCH, SIZE
from evaluator.experts.features import Crops, EntityCues
from evaluator.experts.mtcnn import Mtcnn
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of, unit_rows
from evaluator.media.types import F32, U8, Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

LONG_SIDE = 640
MARGIN = 0.15
"""Of the face box, added on each side: hair and chin belong to a face."""
BODY = (1.0, 0.4, 6.0)
"""Face widths to either side of the face, face heights above and below it."""
GRID = tuple((x, y, x + 0.5, y + 0.5) for y in (0.0, 0.25, 0.5) for x in (0.0, 0.25, 0.5))

Boxes = list[tuple[int, F32]]
"""(sampled frame, box [4] as fractions)."""


class EntityCuesExpert(Composed):
    """capability `entity_cues`."""

    id = "entity_cues"
    capability = "entity_cues"
    weights = ("blazeface", "efficientnet_lite0")
    stands_in_for = "face, person and open-vocabulary detectors with face embedding and DINOv2"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.FFMPEG_AREA)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> EntityCues:
        frames: Frames = inputs["frames"]
        mtcnn = Mtcnn(*(self.sessions.session("blazeface", f"{net}.onnx") for net in ("pnet", "rnet", "onet")))
        faces = [
            (row, as_fractions(face.box, picture))
            for row, picture in enumerate(frames.data)
            for face in mtcnn.find(picture)
        ]
        regions = [(row, np.array(box, np.float32)) for row in range(len(frames.data)) for box in GRID]
        return EntityCues(
            whole=self._vectors(
                frames.data, [(row, np.array([0, 0, 1, 1], np.float32)) for row in range(len(frames.data))]
            ).vectors,
            faces=self._vectors(frames.data, [(row, grown(box)) for row, box in faces]),
            bodies=self._vectors(frames.data, [(row, body(box)) for row, box in faces]),
            regions=self._vectors(frames.data, regions),
            detected=False,
            index=frames.index,
        )

    def _vectors(self, frames: U8, boxes: Boxes) -> Crops:
        """Each box cut out, squashed and embedded."""
        rows = np.array([row for row, _ in boxes], np.int64)
        if not boxes:
            return Crops(rows, np.zeros((0, 4), np.float32), np.zeros((0, 1), np.float32))
        session = self.sessions.session("efficientnet_lite0", "efficientnet_lite0.onnx")
        pixels = normalise(np.stack(list(cut(frames, boxes))), SYMMETRIC)
        vectors = unit_rows(run_padded(session, "pixels", pixels, BATCH)["embedding"])
        return Crops(rows, np.stack([box for _, box in boxes]), vectors)


def cut(frames: U8, boxes: Boxes) -> Iterable[U8]:
    """[SIZE, SIZE, 3] of each box, at least one pixel of it."""
    height, width = frames.shape[1:3]
    for row, (x1, y1, x2, y2) in boxes:
        left, top = min(int(x1 * width), width - 1), min(int(y1 * height), height - 1)
        right, bottom = max(left + 1, round(x2 * width)), max(top + 1, round(y2 * height))
        picture = frames[row, top:bottom, left:right]
        yield np.asarray(cv2.resize(picture, (SIZE, SIZE), interpolation=cv2.INTER_AREA), np.uint8)


def as_fractions(box: F32, picture: U8) -> F32:
    """A box [4] in pixels of a picture [H, W, 3] as fractions of it."""
    height, width = picture.shape[:2]
    return np.asarray(np.clip(box / np.array([width, height, width, height]), 0.0, 1.0), np.float32)


def grown(box: F32) -> F32:
    """A face box with its margin."""
    x1, y1, x2, y2 = box
    across, down = MARGIN * (x2 - x1), MARGIN * (y2 - y1)
    return np.clip([x1 - across, y1 - down, x2 + across, y2 + down], 0.0, 1.0).astype(np.float32)


def body(box: F32) -> F32:
    """The column around and below a face."""
    x1, y1, x2, y2 = box
    aside, above, below = BODY[0] * (x2 - x1), BODY[1] * (y2 - y1), BODY[2] * (y2 - y1)
    return np.clip([x1 - aside, y1 - above, x2 + aside, y2 + below], 0.0, 1.0).astype(np.float32)


EXPERT = EntityCuesExpert
