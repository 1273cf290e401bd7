"""Faces of a clip, and how far the mouth of the most prominent one is open: BlazeFace, MTCNN, MediaPipe face mesh.

Watches every frame at a long side of at most 640 pixels; `face_search` says how a face is found and followed. The
mesh doubts itself: where it sees no face there is no mouth opening. Cost on one thread: 7 to 9 ms per frame with a
face, 6 to 12 without, MTCNN's share included.

Does not know who the face is, nor whether it speaks.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from evaluator.experts.base import StreamingExpert
from evaluator.experts.face_anchors import FULL_RANGE, SHORT_RANGE, AnchorDetector
from evaluator.experts.face_mesh import FaceMesh
from evaluator.experts.face_search import FaceSearch, Sighting
from evaluator.experts.features import FaceTrack
from evaluator.experts.mtcnn import Mtcnn
from evaluator.media.types import F32, F64, I64, ClipInfo, FrameChunk
from evaluator.runtime.session import Session
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, View

LONG_SIDE = 640


class FaceTap:
    """Rows of a FaceTrack, frame by frame."""

    def __init__(self, search: FaceSearch) -> None:
        self._search = search
        self._index: list[I64] = []
        self._time: list[F64] = []
        self._seen: list[Sighting | None] = []
        self._size: F32 = np.ones(4, np.float32)

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, H, W, 3]."""
        height, width = chunk.data.shape[1:3]
        self._size = np.array([width, height, width, height], np.float32)
        self._index.append(chunk.index)
        self._time.append(chunk.time)
        self._seen.extend(self._search.look(picture) for picture in chunk.data)

    def close(self) -> FaceTrack:
        """One row per frame; a clip of no frame has an empty track."""
        nowhere = np.full(4, np.nan, np.float32)
        boxes = [np.clip(seen.face.box / self._size, 0, 1) if seen else nowhere for seen in self._seen]
        return FaceTrack(
            index=np.concatenate([np.zeros(0, np.int64), *self._index]),
            time=np.concatenate([np.zeros(0), *self._time]),
            score=np.array([seen.face.score if seen else 0.0 for seen in self._seen], np.float32),
            box=np.array(boxes, np.float32).reshape(-1, 4),
            count=np.array([seen.count if seen else 0 for seen in self._seen], np.int64),
            mouth_opening=np.array([seen.mouth_opening if seen else math.nan for seen in self._seen], np.float32),
            detector=tuple(seen.detector if seen else "" for seen in self._seen),
        )


class BlazeFace(StreamingExpert):
    """The most prominent face of every frame."""

    id: ClassVar[str] = "blazeface"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "faces"

    def view(self, want: ExpertNeed) -> View:
        return View(ALL_FRAMES, Fit.LONG_SIDE_MAX, height=LONG_SIDE, filter=Filter.FFMPEG_AREA)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> FaceTap:
        short = AnchorDetector(self._open("short_range"), SHORT_RANGE)
        full = AnchorDetector(self._open("full_range"), FULL_RANGE)
        mtcnn = Mtcnn(self._open("pnet"), self._open("rnet"), self._open("onet"))
        mesh = FaceMesh(self._open("face_mesh"))
        return FaceTap(FaceSearch(short, full, mtcnn, mesh.opening))

    def _open(self, network: str) -> Session:
        return self.sessions.session(self.id, f"{network}.onnx")


EXPERT = BlazeFace
