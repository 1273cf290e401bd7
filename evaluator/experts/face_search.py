"""Which face of a frame, and by which detector: a fixed order of searches that goes on only where nothing was found.

1. BlazeFace short range on the whole frame.
2. BlazeFace short range on the surroundings of the last face, up to PATIENCE frames after it was seen. This is how a
   small face is followed: too small for the whole frame, large enough in the window.
3. On every FULL_EVERY-th frame, BlazeFace full range on the whole frame.
4. On every MTCNN_EVERY-th frame, MTCNN, for faces down to 20 pixels.

A detector that is not sure of a face asks the face mesh, which says whether its crop shows one; MTCNN always asks.
Measured: human faces score 0.7 to 0.97 and the mesh agrees in nearly every frame; fireworks and traffic reach 0.7
without its consent.

Among several faces of a frame: largest score x area, where the face that was followed so far counts LOYALTY times, so
that two people of about the same size do not take turns. All of it is deterministic; the state is one clip's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from evaluator.experts.face_anchors import AnchorDetector
from evaluator.experts.face_geometry import Face, Window, centre, overlap
from evaluator.experts.mtcnn import Mtcnn
from evaluator.media.types import U8

FULL_EVERY = 4
MTCNN_EVERY = 12
PATIENCE = 12
"""Frames: half a second at 24 fps."""
SURROUNDINGS = 3.0
"""Side of the window around the last face, in sides of its box."""
LOYALTY = 2.0
SAME_FACE = 0.3
"""Intersection over union above which a box is the face that was followed."""

SURE = {"blazeface": 0.8, "mtcnn": math.inf}
"""Detector -> probability from which it needs no second opinion."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was found in one frame: the chosen face, its mouth opening, how many faces there were, who found them."""

    face: Face
    mouth_opening: float
    count: int
    detector: str


def choose(faces: Sequence[Face], followed: Face | None) -> Face:
    """The most prominent of one or more faces, loyal to the followed one. Ties go to the first."""

    def prominence(face: Face) -> float:
        same = followed is not None and overlap(followed.box, face.box[None])[0] > SAME_FACE
        return face.score * face.area * (LOYALTY if same else 1.0)

    return max(faces, key=prominence)


def near(face: Face) -> Window:
    """Where to look for a face again."""
    return Window.around(centre(face.box), SURROUNDINGS * face.side)


class FaceSearch:
    """Follows one face through the frames of one clip. `mouth` gives a face's mouth opening, NaN if it is none."""

    def __init__(
        self, short: AnchorDetector, full: AnchorDetector, mtcnn: Mtcnn, mouth: Callable[[U8, Face], float]
    ) -> None:
        self._short = short
        self._full = full
        self._mtcnn = mtcnn
        self._mouth = mouth
        self._frame = 0
        self._last: Face | None = None
        self._last_frame = 0

    def look(self, picture: U8) -> Sighting | None:
        """The face of the next frame [H, W, 3], or None."""
        followed = self._last if self._frame - self._last_frame <= PATIENCE else None
        mouth = cache(partial(self._mouth, picture))  # a face that was asked about once is not asked again
        found = None
        for detector, faces in self._searches(picture, followed):
            real = [face for face in faces if face.score >= SURE[detector] or not math.isnan(mouth(face))]
            if real:
                self._last, self._last_frame = choose(real, followed), self._frame
                found = Sighting(self._last, mouth(self._last), len(real), detector)
                break
        self._frame += 1
        return found

    def _searches(self, picture: U8, followed: Face | None) -> Iterator[tuple[str, list[Face]]]:
        """Detectors and what they find, cheapest first; each runs only if the loop comes to it."""
        whole = Window.whole(picture)
        yield "blazeface", self._short.find(picture, whole)
        if followed is not None:
            yield "blazeface", self._short.find(picture, near(followed))
        if self._frame % FULL_EVERY == 0:
            yield "blazeface", self._full.find(picture, whole)
        if self._frame % MTCNN_EVERY == 0:
            yield "mtcnn", self._mtcnn.find(picture)
