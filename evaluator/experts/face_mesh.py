"""The MediaPipe face mesh: 468 points on a face crop, and the network's own word on whether the crop shows a face.

The crop is a square 1.5 times the face box, turned so that the eyes are level (arXiv 1907.06724).
"""

from __future__ import annotations

import math

from evaluator.experts.face_geometry import Face, level_transform, mouth_opening, warp
from evaluator.experts.logits import probability
from evaluator.experts.pixels import UNIT, normalise
from evaluator.media.types import U8
from evaluator.runtime.session import Session

SIZE = 192
SCALE = 1.5
PRESENCE = 0.5
"""Least probability that the crop shows a face."""


class FaceMesh:
    """One network, called per face."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def opening(self, picture: U8, face: Face) -> float:
        """Mouth opening of a face in a picture [H, W, 3]; NaN if the mesh sees no face there."""
        crop = warp(picture, level_transform(face, SCALE, SIZE), SIZE)
        found = self._session.run({"pixels": normalise(crop[None], UNIT)})
        if probability(found["presence"])[0, 0] < PRESENCE:
            return math.nan
        return mouth_opening(found["landmarks"][0])
