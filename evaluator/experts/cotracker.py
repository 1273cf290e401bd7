"""CoTracker3, offline (Karaev et al., 2024, checkpoint `scaled_offline`): where points of the first frame go.

A reference model: the user mounts `cotracker.onnx`, made from the published predictor as it is called with a list of
points and without its support grid. The file holds the predictor's own scaling of the picture to 384 x 512, six
iterations, its threshold of visibility, and the scaling of the tracks back. Contract: `frames` [1, T, 3, 384, 384]
float32, RGB 0..255, and `queries` [1, 100, 3] float32 (frame, x, y in pixels), to `tracks` [1, T, 100, 2] (x, y) and
`visibility` [1, T, 100], 1 where the predictor says visible.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import PointTracks
from evaluator.experts.pixels import levels, sampling_of
from evaluator.experts.point_grid import COUNT, SIDE, grid
from evaluator.media.types import Frames
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

FILE = "cotracker.onnx"
VISIBLE = 0.5
"""CoVEBench 5.2."""


class CoTracker(Expert):
    """Tracks of 100 points over the frames that `sampling` picks."""

    id: ClassVar[str] = "cotracker"
    capability: ClassVar[str] = "point_tracks"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": FramesNeed(View(sampling_of(want), Fit.SQUASH, SIDE, SIDE, Filter.AREA), want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> PointTracks:
        frames: Frames = inputs["frames"]
        count = len(frames.data)
        if count < 2:
            raise NotApplicable("not_applicable", "Points can be followed over two frames or more; the clip has one.")
        pictures = levels(frames.data)[None]  # [1, T, 3, 384, 384]
        queries = np.pad(grid(), ((0, 0), (1, 0)))[None]  # all of them start on frame 0
        found = self.sessions.session(self.id, FILE).run({"frames": pictures, "queries": queries})
        tracks, visibility = found["tracks"], found["visibility"]
        if tracks.shape != (1, count, COUNT, 2) or visibility.shape != (1, count, COUNT):
            raise ExpertError(
                f"{FILE}: expected [1, {count}, {COUNT}, 2] and [1, {count}, {COUNT}], "
                f"found {list(tracks.shape)} and {list(visibility.shape)}"
            )
        xy = np.ascontiguousarray(tracks[0].transpose(1, 0, 2), np.float32)
        return PointTracks(xy, visibility[0].T > VISIBLE, frames.index, SIDE)


EXPERT = CoTracker
