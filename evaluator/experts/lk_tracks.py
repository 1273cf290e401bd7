"""Point tracks by pyramidal Lucas-Kanade, the classical method (Bouguet, 2001): a stand-in for CoTracker3.

No weights and nothing random: the same frames give the same tracks. The method follows a patch from one frame to the
next, so it watches four times as many frames as are asked for (at most 61, every one of the asked for among them) and
holds two of them at a time.

What it does not do: it guesses nothing. A point on a plain surface, behind something, or outside the picture is lost,
stays where it was last seen, is invisible from then on, and never comes back. CoTracker goes on with such points, so
clips with large plain areas have more resting tracks here than there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cv2
import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import StreamingExpert
from evaluator.experts.features import PointTracks
from evaluator.experts.pixels import sampling_of
from evaluator.experts.point_grid import SIDE, grid
from evaluator.media.sampling import select
from evaluator.media.types import F32, U8, Bool, ClipInfo, FrameChunk
from evaluator.schema import ExpertNeed, Filter, Fit, Sampling, View

DENSITY = 4
"""Frames watched per frame asked for: at most 15 x 4 + 1 for sixteen. Position 4 i of them is position i of those."""

ROUND_TRIP = 1.0
"""Pixels. A point that does not come back to where it started within this is lost (Kalal et al., 2010)."""

SETTINGS: Mapping[str, Any] = {
    "winSize": (21, 21),
    "maxLevel": 3,  # halvings: a patch may move by about 80 pixels of 384 between two watched frames
    "criteria": (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 30, 0.01),
    "minEigThreshold": 1e-3,  # below it a patch is too plain to be found again
}


class LkTap:
    """Follows the grid from frame to frame. Holds the last frame, not the clip."""

    def __init__(self, wanted: list[int]) -> None:
        self._wanted = frozenset(wanted)  # frame positions whose points are kept
        self._last: U8 | None = None
        self._points = grid()
        self._alive: Bool = np.ones(len(self._points), bool)
        self._kept: list[tuple[int, F32, Bool]] = []

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, 384, 384, 1]."""
        for position, picture in zip(chunk.index.tolist(), chunk.data[..., 0], strict=True):
            if self._last is not None:
                self._points, found = step(self._last, picture, self._points)
                self._alive &= found
            self._last = picture
            if position in self._wanted:
                self._kept.append((position, self._points, self._alive.copy()))

    def close(self) -> PointTracks:
        """The tracks [100, T]. Raises NotApplicable below two frames: there is nothing to follow."""
        if len(self._kept) < 2:
            raise NotApplicable("not_applicable", "Points can be followed over two frames or more; the clip has one.")
        index, points, alive = zip(*self._kept, strict=True)
        return PointTracks(np.stack(points, axis=1), np.stack(alive, axis=1), np.array(index, np.int64), SIDE)


def step(last: U8, now: U8, points: F32) -> tuple[F32, Bool]:
    """Where points [P, 2] of picture `last` [H, W] are in picture `now`, and whether [P] they were found there.

    A point that is not found stays where it is.
    """
    there, seen = _flow(last, now, points)
    back, returned = _flow(now, last, there)
    inside = ((there >= 0) & (there <= np.array(now.shape[::-1], np.float32) - 1)).all(axis=1)
    found: Bool = seen & returned & inside & (np.linalg.norm(back - points, axis=1) <= ROUND_TRIP)
    return np.where(found[:, None], there, points).astype(np.float32), found


def _flow(a: U8, b: U8, points: F32) -> tuple[F32, Bool]:
    moved, status, _ = cv2.calcOpticalFlowPyrLK(a, b, points[:, None], None, **SETTINGS)  # type: ignore[call-overload]
    return np.asarray(moved[:, 0], np.float32), np.asarray(status[:, 0], bool)


class LkTracks(StreamingExpert):
    """Tracks of 100 points over the frames that `sampling` picks (`equal_indices`)."""

    id: ClassVar[str] = "lk_tracks"
    capability: ClassVar[str] = "point_tracks"

    def view(self, want: ExpertNeed) -> View:
        sampling = sampling_of(want)
        if sampling.rule != "equal_indices":
            raise ValueError(f"tracks are asked for on equal_indices, found {sampling.rule}")
        (count,) = sampling.params
        denser = Sampling("equal_indices", (DENSITY * (int(count) - 1) + 1,))  # type: ignore[arg-type]
        return View(denser, Fit.SQUASH, SIDE, SIDE, Filter.FFMPEG_AREA, colour="gray")

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> LkTap:
        times = clip.video.times if clip.video else np.empty(0)
        return LkTap(select(sampling_of(want), times).tolist())


EXPERT = LkTracks
