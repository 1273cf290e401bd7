"""Tracks of textures that move by known amounts; what is lost stays lost; nothing is held but two frames."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import PointTracks
from evaluator.experts.lk_tracks import DENSITY, EXPERT, step
from evaluator.experts.point_grid import COUNT, SIDE, grid
from evaluator.media.sampling import select
from evaluator.media.types import F32, U8
from evaluator.schema import ExpertNeed, Sampling
from tests.experts.fakes import FakeSource
from tests.experts.pictures import RATE, chunks, clip_of, feature_of, watch

FRAMES = Sampling("equal_indices", (16,))
WANT = ExpertNeed("point_tracks", sampling=FRAMES)
EXPERT_HERE = EXPERT(FakeSource({}))


def texture(seed: int = 0, size: int = SIDE + 200) -> F32:
    """A smooth random picture, 0..255, with structure at every point."""
    noise = np.random.default_rng(seed).uniform(0, 255, (size, size)).astype(np.float32)
    blurred = cv2.GaussianBlur(noise, (0, 0), 3)
    return np.asarray(cv2.normalize(blurred, None, 0, 255, cv2.NORM_MINMAX), np.float32)  # type: ignore[call-overload]


def moved(picture: F32, dx: float, dy: float) -> U8:
    """[384, 384, 1]: the middle of a picture whose content is moved by (dx, dy) pixels."""
    matrix = np.array([[1, 0, dx - 100], [0, 1, dy - 100]], np.float64)
    return (
        np.rint(cv2.warpAffine(picture, matrix, (SIDE, SIDE), flags=cv2.INTER_CUBIC))
        .clip(0, 255)
        .astype(np.uint8)[..., None]
    )


def film(path: Callable[[int], tuple[float, float]], count: int = 31) -> U8:
    picture = texture()
    return np.stack([moved(picture, *path(k)) for k in range(count)])


def tracks(frames: U8) -> PointTracks:
    found = watch(EXPERT_HERE, WANT, frames)
    assert isinstance(found, PointTracks)
    return found


def test_the_grid_is_that_of_the_published_predictor() -> None:
    """8 pixels from the edges of 384 x 512, brought to the square corner to corner."""
    points = grid().reshape(10, 10, 2)
    np.testing.assert_allclose(points[0, [0, -1], 0], [8 * 383 / 511, 504 * 383 / 511], rtol=1e-6)
    np.testing.assert_allclose(points[[0, -1], 0, 1], [8, 376], rtol=1e-6)
    assert (points[3, :, 1] == points[3, 0, 1]).all()  # row by row
    np.testing.assert_allclose(grid().mean(axis=0), [256 * 383 / 511, 192], atol=1e-3)


@given(st.integers(1, 3000), st.integers(2, 40))
def test_the_frames_asked_for_are_among_those_watched(count: int, wanted: int) -> None:
    want = ExpertNeed("point_tracks", sampling=Sampling("equal_indices", (wanted,)))
    watched = EXPERT_HERE.view(want).sampling
    times = np.arange(count) / RATE
    assert set(select(want.sampling or FRAMES, times)) <= set(select(watched, times))
    assert len(select(watched, times)) <= DENSITY * (wanted - 1) + 1


@pytest.mark.parametrize("motion", [(2.0, 0.0), (0.0, -1.5), (1.25, 0.75)])
def test_a_moved_texture_is_followed(motion: tuple[float, float]) -> None:
    found = tracks(film(lambda k: (motion[0] * k, motion[1] * k)))
    assert found.xy.shape == (COUNT, 16, 2)
    assert found.index.tolist() == list(range(0, 31, 2))
    whole = found.visible.all(axis=1)
    assert whole.sum() > 60  # the others leave the picture
    expected = grid()[whole, None] + np.outer(found.index, motion)[None]
    error = np.abs(found.xy[whole] - expected)
    assert np.quantile(error, 0.98) < 0.1  # pixels
    assert error.max() < 1.0  # next to the edge


def test_a_still_texture_rests_exactly() -> None:
    found = tracks(film(lambda k: (0.0, 0.0)))
    assert found.visible.all()
    np.testing.assert_array_equal(found.xy, np.repeat(grid()[:, None], 16, axis=1))


def test_the_same_frames_give_the_same_bytes_in_any_chunks() -> None:
    frames = film(lambda k: (3.0 * np.sin(k), 1.0 * k))
    one, other = (watch(EXPERT_HERE, WANT, frames, size) for size in (32, 5))
    assert one.xy.tobytes() == other.xy.tobytes()
    assert one.visible.tobytes() == other.visible.tobytes()


def test_a_plain_picture_shows_nothing_to_follow() -> None:
    found = tracks(np.full((20, SIDE, SIDE, 1), 90, np.uint8))
    assert found.visible[:, 0].all()
    assert not found.visible[:, 1:].any()
    np.testing.assert_array_equal(found.xy[:, 0], found.xy[:, -1])


def test_a_point_that_was_lost_does_not_come_back() -> None:
    still = moved(texture(), 0, 0)
    frames = np.stack([still] * 4 + [np.full_like(still, 90)] + [still] * 11)
    found = tracks(frames)
    assert found.visible[:, :4].all()
    assert not found.visible[:, 4:].any()


def test_a_cut_ends_the_tracks() -> None:
    frames = np.stack([moved(texture(int(k >= 8)), 0, 0) for k in range(16)])
    visible = tracks(frames).visible
    assert visible[:, :8].all()
    assert visible[:, 8:].mean() < 0.1


def test_points_outside_the_picture_are_lost() -> None:
    last, now = moved(texture(), 0, 0)[..., 0], moved(texture(), -20, 0)[..., 0]
    points = grid()
    there, found = step(last, now, points)
    gone = points[:, 0] < 20
    assert not found[gone].any()
    np.testing.assert_array_equal(there[gone], points[gone])
    assert found[~gone].mean() > 0.9


@pytest.mark.parametrize("count", [0, 1])
def test_one_frame_has_no_tracks(count: int) -> None:
    with pytest.raises(NotApplicable):
        tracks(film(lambda k: (0.0, 0.0), count) if count else np.zeros((0, SIDE, SIDE, 1), np.uint8))


def test_only_equal_indices_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match="equal_indices"):
        EXPERT_HERE.view(ExpertNeed("point_tracks", sampling=Sampling("every", (2,))))


def test_the_tap_holds_one_frame() -> None:
    tap = EXPERT_HERE.tap(WANT, clip_of(1000))
    frames = film(lambda k: (0.5 * k, 0.0), 3)
    for chunk in chunks(frames):
        tap.push(chunk)
    assert tap._last is not None
    assert tap._last.nbytes == SIDE * SIDE


def test_a_real_clip_moves(clips: Path) -> None:
    found = feature_of(EXPERT_HERE, WANT, clips / "bigbuckbunny.mp4")
    assert found.xy.shape == (COUNT, 16, 2)
    seen = found.visible.all(axis=1)
    assert seen.mean() > 0.2
    assert 1 < np.abs(found.xy[seen, -1] - found.xy[seen, 0]).max() < SIDE
