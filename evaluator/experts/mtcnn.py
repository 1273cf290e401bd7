"""MTCNN (arXiv 1604.02878): three small networks in a row that find faces down to 20 pixels.

The first (PNet) slides over a pyramid of the picture and proposes many boxes; the second (RNet) and third (ONet) look
at each proposal again, drop most, and correct the rest. ONet adds five landmarks. Slower than BlazeFace, and finds
what is too small for it. The number of proposals that go on is bounded, and so is the cost of a textured picture.

Boxes are floats in pixels. The probability thresholds are the authors' own.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np

from evaluator.experts.face_geometry import Face, Window, centre, overlap
from evaluator.experts.pixels import Normalisation, normalise
from evaluator.media.types import F32, U8
from evaluator.runtime.session import Session, run_padded

CELL, STRIDE = 12, 2
"""PNet answers for every 12 x 12 window, two pixels apart."""
FACTOR = 0.709
"""Step of the pyramid: each level has half the pixels of the one before."""
LEAST_FACE = 20
"""Pixels."""
LEAST = (0.6, 0.7, 0.7)
"""Least probability of a face after PNet, RNet, ONet."""
PROPOSALS = 128
"""Best proposals of PNet that go on, and the fixed batch of RNet times four."""
RNET_BATCH, ONET_BATCH = 32, 8
NORMALISATION = Normalisation((0.5, 0.5, 0.5), (128 / 255, 128 / 255, 128 / 255))
"""(x - 127.5) / 128."""


class Mtcnn:
    """The cascade over one picture."""

    def __init__(self, pnet: Session, rnet: Session, onet: Session) -> None:
        self._pnet = pnet
        self._rnet = rnet
        self._onet = onet

    def find(self, picture: U8) -> list[Face]:
        """Faces of [H, W, 3], best first."""
        boxes = self._propose(picture)
        boxes = self._refine(picture, boxes) if len(boxes) else boxes
        return self._confirm(picture, boxes) if len(boxes) else []

    def _propose(self, picture: U8) -> F32:
        """Square boxes [N, 4] of PNet over all levels, best first, at most PROPOSALS."""
        levels = [proposals(self._pnet, picture, scale) for scale in pyramid(*picture.shape[:2])]
        boxes = np.concatenate([np.zeros((0, 4), np.float32), *(found for found, _ in levels)])
        scores = np.concatenate([np.zeros(0, np.float32), *(score for _, score in levels)])
        return square(boxes[suppress(boxes, scores, 0.7)[:PROPOSALS]])

    def _refine(self, picture: U8, boxes: F32) -> F32:
        """The boxes that RNet believes, corrected and square again."""
        found = run_padded(self._rnet, "pixels", crops(picture, boxes, 24), RNET_BATCH)
        scores = found["probability"][:, 1]
        likely = np.flatnonzero(scores > LEAST[1])
        kept = likely[suppress(boxes[likely], scores[likely], 0.7)]
        return square(corrected(boxes[kept], found["offsets"][kept]))

    def _confirm(self, picture: U8, boxes: F32) -> list[Face]:
        """The faces that ONet believes, with their eyes."""
        found = run_padded(self._onet, "pixels", crops(picture, boxes, 48), ONET_BATCH)
        scores = found["probability"][:, 1]
        likely = np.flatnonzero(scores > LEAST[2])
        final = corrected(boxes[likely], found["offsets"][likely])
        eyes = landmarks(boxes[likely], found["landmarks"][likely])[:, :2]
        kept = suppress(final, scores[likely], 0.5)
        return [Face(final[row], eyes[row], float(scores[likely[row]])) for row in kept]


def pyramid(height: int, width: int) -> Iterator[float]:
    """Scales at which a face of LEAST_FACE pixels or more fills one cell."""
    scale = CELL / LEAST_FACE
    while min(height, width) * scale >= CELL:
        yield scale
        scale *= FACTOR


def proposals(pnet: Session, picture: U8, scale: float) -> tuple[F32, F32]:
    """Corrected boxes [N, 4] of one level, in pixels of the picture, and their scores [N]."""
    height, width = picture.shape[:2]
    size = int(width * scale) + 1, int(height * scale) + 1
    small = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)
    found = pnet.run({"pixels": normalise(small[None], NORMALISATION)})
    scores = found["probability"][0, 1]  # [rows, columns]
    y, x = np.nonzero(scores >= LEAST[0])
    corner = np.column_stack([x, y]).astype(np.float32) * STRIDE
    boxes = np.column_stack([corner, corner + CELL]) / np.float32(scale)
    kept = suppress(boxes, scores[y, x], 0.5)
    offsets = found["offsets"][0, :, y, x]  # [N, 4]
    return corrected(boxes[kept], offsets[kept]), scores[y, x][kept]


def crops(picture: U8, boxes: F32, size: int) -> F32:
    """Square boxes [N, 4] as normalised pictures [N, 3, size, size]; black outside."""
    cut = [Window.around(centre(box), float(box[2] - box[0])).cut(picture, size) for box in boxes]
    return normalise(np.stack(cut), NORMALISATION)


def corrected(boxes: F32, offsets: F32) -> F32:
    """Boxes [N, 4] moved by offsets [N, 4] that are fractions of their sides."""
    sides = boxes[:, 2:] - boxes[:, :2]
    return boxes + offsets * np.column_stack([sides, sides])


def landmarks(boxes: F32, fractions: F32) -> F32:
    """Points [N, 5, 2] in pixels from fractions [N, 10] of a box: five x, then five y."""
    points = fractions.reshape(-1, 2, 5).transpose(0, 2, 1)
    return boxes[:, None, :2] + points * (boxes[:, 2:] - boxes[:, :2])[:, None]


def square(boxes: F32) -> F32:
    """Boxes [N, 4] grown to squares around their middle."""
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    half = (boxes[:, 2:] - boxes[:, :2]).max(axis=1, keepdims=True) / 2
    return np.column_stack([middle - half, middle + half])


def suppress(boxes: F32, scores: F32, limit: float) -> list[int]:
    """Rows to keep, best first: none overlaps a better one by more than `limit` (intersection over union)."""
    order = np.argsort(-scores, kind="stable")
    kept = []
    while len(order):
        kept.append(int(order[0]))
        order = order[1:][overlap(boxes[order[0]], boxes[order[1:]]) <= limit]
    return kept
