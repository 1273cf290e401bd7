"""S3FD: all faces of a clip, followed and cut out for SyncNet (Zhang et al., ICCV 2017; AVE-Compass 4.3, strict).

A reference model: the user mounts `s3fd.onnx`, or its recipe makes it of `sfd_face.pth`. Contract: `image` [1, 3, H, W]
float32, red, green, blue, 0..255 less (123, 117, 104), to `offsets` [1, A, 4] and `scores` [1, A, 2] (background, face;
before the softmax), A anchors in the order of `s3fd_anchors.anchors`. It sees the frame at a quarter of its size.

Frames come 25 times a second at their own size and are let go after 32 (`face_tape`).
"""

from __future__ import annotations

from typing import ClassVar

import cv2
import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import StreamingExpert
from evaluator.experts.face_tape import FaceTape
from evaluator.experts.face_tracks import RATE
from evaluator.experts.s3fd_anchors import LEAST_SIDE, anchors
from evaluator.experts.s3fd_boxes import faces
from evaluator.media.types import F32, U8, ClipInfo
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Fit, Sampling, View

FILE = "s3fd.onnx"
SCALE = 0.25
MEANS = np.array([123, 117, 104], np.float32)  # red, green, blue
NOWHERE: F32 = np.zeros((0, 4), np.float32)


class Detector:
    """Finds the faces of one picture."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, picture: U8) -> F32:
        """Boxes [K, 4] in pixels of a picture [H, W, 3], surest first. None in one of less than 128 pixels."""
        small = np.asarray(cv2.resize(picture, None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_LINEAR), np.float32)
        height, width = small.shape[:2]
        if min(height, width) < LEAST_SIDE:
            return NOWHERE
        image = np.ascontiguousarray((small - MEANS).transpose(2, 0, 1)[None])
        heads = self._session.run({"image": image})
        offsets, scores = heads["offsets"][0], heads["scores"][0]
        expected = len(anchors(height, width))
        if offsets.shape != (expected, 4) or scores.shape != (expected, 2):
            found = [list(offsets.shape), list(scores.shape)]
            raise ExpertError(f"{FILE}: expected {expected} anchors for {width} x {height} pixels, found {found}")
        sides = np.array([picture.shape[1] / width, picture.shape[0] / height] * 2, np.float32)
        return faces(offsets, scores, height, width) * sides


class S3fd(StreamingExpert):
    """capability `face_clips`."""

    id: ClassVar[str] = "s3fd"
    capability: ClassVar[str] = "face_clips"

    def view(self, want: ExpertNeed) -> View:
        return View(Sampling("fps", (RATE,)), Fit.NATIVE)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> FaceTape:
        return FaceTape(Detector(self.sessions.session(self.id, FILE)).find)


EXPERT = S3fd
