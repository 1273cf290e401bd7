"""BlazeFace, the single-shot face detector of MediaPipe (arXiv 1907.05047): from raw network output to faces.

The network answers per anchor, a fixed point of a grid: box and six key points relative to the anchor, and a logit.
Neighbouring anchors fire together on one face; they are blended into one, weighted by score, as the paper proposes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.experts.face_geometry import Face, Window, overlap
from evaluator.experts.logits import probability
from evaluator.experts.pixels import SYMMETRIC, normalise
from evaluator.media.types import F32, U8
from evaluator.runtime.session import Session

SCORE = 0.5
"""Least probability of a face."""
OVERLAP = 0.3
"""Detections that share more than this (intersection over union) with a better one are the same face."""


@dataclass(frozen=True, slots=True)
class AnchorGrid:
    """Input size of a detector in pixels, and its layers as (stride, anchors per cell)."""

    size: int
    layers: tuple[tuple[int, int], ...]

    def anchors(self) -> F32:
        """Centres [A, 2] as fractions of the input: layer by layer, row by row, x before y."""
        parts = []
        for stride, per_cell in self.layers:
            cells = self.size // stride
            y, x = np.divmod(np.arange(cells * cells).repeat(per_cell), cells)
            parts.append((np.column_stack([x, y]) + 0.5) / cells)
        return np.concatenate(parts).astype(np.float32)


SHORT_RANGE = AnchorGrid(128, ((8, 2), (16, 6)))
"""Faces within two metres; three layers of stride 16 share one grid."""
FULL_RANGE = AnchorGrid(192, ((4, 1),))
"""Faces within five metres."""


class AnchorDetector:
    """One BlazeFace network with its anchors."""

    def __init__(self, session: Session, grid: AnchorGrid) -> None:
        self._session = session
        self._size = grid.size
        self._anchors = grid.anchors()

    def find(self, picture: U8, window: Window) -> list[Face]:
        """Faces in a window of a picture [H, W, 3], best first."""
        pixels = normalise(window.cut(picture, self._size)[None], SYMMETRIC)
        found = self._session.run({"pixels": pixels})
        scores = probability(found["scores"][0, :, 0])
        likely = scores >= SCORE
        points = decode(found["boxes"][0, likely], self._anchors[likely], self._size)
        blended = blend(points, scores[likely])
        return [face_of(window.to_picture(shape), score) for shape, score in blended]


def decode(raw: F32, anchors: F32, size: int) -> F32:
    """Raw rows [A, 16] to points [A, 8, 2] as fractions of the input: two corners of the box, then six key points."""
    pairs = raw.reshape(-1, 8, 2) / np.float32(size)
    middle, sides = pairs[:, 0] + anchors, pairs[:, 1]
    keys = pairs[:, 2:] + anchors[:, None]
    return np.concatenate([(middle - sides / 2)[:, None], (middle + sides / 2)[:, None], keys], axis=1)


def blend(points: F32, scores: F32) -> list[tuple[F32, float]]:
    """Groups of overlapping detections [A, 8, 2], each as its score-weighted mean [8, 2] with the best score."""
    order = np.argsort(-scores, kind="stable")
    boxes = points[:, :2].reshape(-1, 4)
    groups = []
    while len(order):
        same = overlap(boxes[order[0]], boxes[order]) > OVERLAP
        same[0] = True  # a box without area does not overlap itself
        members = order[same]
        mean = np.average(points[members], axis=0, weights=scores[members]).astype(np.float32)
        groups.append((mean, float(scores[order[0]])))
        order = order[~same]
    return groups


def face_of(points: F32, score: float) -> Face:
    """Eight points [8, 2] in pixels as a face; key points 0 and 1 are the eyes."""
    return Face(points[:2].reshape(4), points[2:4], score)
