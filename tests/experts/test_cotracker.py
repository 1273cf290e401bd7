"""The contract of the CoTracker3 expert, on a session without a network."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.cotracker import EXPERT, FILE
from evaluator.experts.features import PointTracks
from evaluator.experts.point_grid import COUNT, SIDE, grid
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Sampling, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

FRAMES = Sampling("equal_indices", (16,))
WANT = ExpertNeed("point_tracks", sampling=FRAMES)


def drifting(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
    """Every point moves by (3, 1) a frame and is seen with a share that falls."""
    count = feeds["frames"].shape[1]
    way = np.arange(count, dtype=np.float32)[:, None, None] * np.array([3, 1], np.float32)
    share = np.broadcast_to(np.linspace(1, 0, count, dtype=np.float32)[:, None], (count, COUNT))
    return {"tracks": (feeds["queries"][0, None, :, 1:] + way)[None], "visibility": share[None]}


def run(session: FakeSession, count: int = 5) -> PointTracks:
    data = np.random.default_rng(0).integers(0, 256, (count, SIDE, SIDE, 3), dtype=np.uint8)
    found = EXPERT(FakeSource({FILE: session})).run(WANT, {"frames": frames_of(data, np.arange(count) * 10, 100)})
    assert isinstance(found, PointTracks)
    return found


def test_asks_for_squares_by_area() -> None:
    need = EXPERT(FakeSource({})).needs(ExpertNeed("point_tracks", ("source",), FRAMES))["frames"]
    assert need == FramesNeed(View(FRAMES, Fit.SQUASH, SIDE, SIDE, Filter.AREA), "source")


def test_levels_and_the_grid_of_frame_0_go_in_and_tracks_per_point_come_out() -> None:
    session = FakeSession(drifting)
    found = run(session)
    frames, queries = session.fed[0]["frames"], session.fed[0]["queries"]
    assert (frames.shape, frames.dtype, frames.max()) == ((1, 5, 3, SIDE, SIDE), np.float32, 255)
    assert queries.shape == (1, COUNT, 3)
    assert (queries[0, :, 0] == 0).all()
    np.testing.assert_array_equal(queries[0, :, 1:], grid())
    np.testing.assert_allclose(found.xy[:, 4] - found.xy[:, 0], [[12, 4]] * COUNT, atol=1e-4)
    assert found.visible[0].tolist() == [True, True, False, False, False]  # above one half, not at it
    assert (found.index.tolist(), found.side) == ([0, 10, 20, 30, 40], SIDE)


def test_another_network_is_noticed() -> None:
    def fewer(feeds: Mapping[str, Array]) -> Mapping[str, Any]:
        return {name: value[:, :, :99] for name, value in drifting(feeds).items()}

    with pytest.raises(ExpertError, match="100"):
        run(FakeSession(fewer))


def test_one_frame_has_no_tracks() -> None:
    with pytest.raises(NotApplicable):
        run(FakeSession(drifting), count=1)
