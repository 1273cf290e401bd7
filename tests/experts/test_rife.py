"""Interpolation errors: which frames meet with a fake session, and damage seen by the real network."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import InterpolationError
from evaluator.experts.rife import COUNT, EXPERT, LONG_SIDE, MULTIPLE, Padding, centres, difference
from evaluator.media.sampling import select
from evaluator.media.types import F32, I64, U8, Frames
from evaluator.runtime.session import Array, SessionSource
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Sampling, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import RATE, frames_of, view_of

WANT = ExpertNeed("frame_interpolation")


def blend() -> FakeSession:
    """The mean of both frames."""
    return FakeSession(lambda feeds: {"middle": (feeds["first"] + feeds["second"]) / 2})


def errors(frames: Frames, session: FakeSession | None = None) -> InterpolationError:
    found = EXPERT(FakeSource({"rife.onnx": session or blend()})).run(WANT, {"frames": frames})
    assert isinstance(found, InterpolationError)
    return found


def greys(levels: list[int]) -> U8:
    """One plain frame [9, 16, 3] per level."""
    return np.array(levels, np.uint8)[:, None, None, None] * np.ones((1, 9, 16, 3), np.uint8)


def test_asks_for_small_triplets_and_options_change_them() -> None:
    need = EXPERT(FakeSource({})).needs(WANT)["frames"]
    assert isinstance(need, FramesNeed)
    assert need.view.sampling == Sampling("triplets", (COUNT,))
    assert (need.view.fit, need.view.height) == (Fit.LONG_SIDE_MAX, LONG_SIDE)
    want = ExpertNeed("frame_interpolation", ("source",), options=(("count", 9), ("long_side", 448)))
    other = EXPERT(FakeSource({})).needs(want)["frames"]
    assert isinstance(other, FramesNeed)
    assert (other.role, other.view.sampling, other.view.height) == ("source", Sampling("triplets", (9,)), 448)


@given(st.integers(0, 400), st.integers(1, 120))
def test_every_sampled_triplet_is_tested_once(count: int, triplets: int) -> None:
    index = select(Sampling("triplets", (triplets,)), np.arange(count) / RATE)
    middle = index[centres(index)]
    assert len(middle) == min(triplets, max(0, (count - 1) // 2))
    assert set(middle - 1) | set(middle) | set(middle + 1) == set(index.tolist())
    assert (middle % 2 == 1).all()


def test_error_is_the_distance_to_the_mean_of_the_neighbours() -> None:
    found = errors(frames_of(greys([10, 30, 50, 50, 90, 94, 100])))
    np.testing.assert_allclose(found.error, [0, 20, 1], atol=1e-6)
    assert found.index.tolist() == [1, 3, 5]
    assert (found.sampled, found.plan) == (False, "every odd frame, at 16x9")


def test_a_frame_without_a_right_neighbour_is_not_tested() -> None:
    assert errors(frames_of(greys([0, 0, 0, 200]))).index.tolist() == [1]


def test_sampling_is_declared() -> None:
    index = select(Sampling("triplets", (2,)), np.arange(21) / RATE)
    found = errors(frames_of(greys([7] * len(index)), index, count=21))
    assert found.index.tolist() == [1, 19]
    assert (found.sampled, found.plan) == (True, "2 of 10 odd frames, equally spaced, at 16x9")


@pytest.mark.parametrize("count", [1, 2])
def test_two_frames_have_no_middle(count: int) -> None:
    with pytest.raises(NotApplicable):
        errors(frames_of(greys([5] * count)))


@pytest.mark.parametrize(
    ("predicted", "real", "expected"), [(100.99, 100, 0), (101.0, 100, 1), (-5, 0, 0), (300, 250, 5)]
)
def test_predictions_are_truncated_and_clipped_to_levels(predicted: float, real: int, expected: float) -> None:
    prediction = np.full((3, 2, 2), predicted / 255 + 1e-7, np.float32)
    assert difference(prediction, np.full((2, 2, 3), real, np.uint8)) == expected


@given(st.integers(1, 200), st.integers(1, 200))
def test_padding_is_centred_and_comes_off_again(height: int, width: int) -> None:
    picture = np.random.default_rng(0).integers(0, 256, (1, height, width, 3), dtype=np.uint8)
    padding = Padding.of(height, width)
    padded = padding.add(picture)
    assert padded.shape[1] % MULTIPLE == padded.shape[2] % MULTIPLE == 0
    assert padded.shape[1] - height < MULTIPLE
    assert padded.shape[2] - width < MULTIPLE
    assert 0 <= (padded.shape[1] - height) - 2 * padding.top <= 1
    assert (padded[0, 0, 0] == picture[0, 0, 0]).all()
    channels_first: F32 = padded[0].transpose(2, 0, 1).astype(np.float32)
    np.testing.assert_array_equal(padding.remove(channels_first), picture[0].transpose(2, 0, 1))


def test_the_border_does_not_count() -> None:
    def only_border(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        middle = np.ones_like(feeds["first"])
        middle[:, :, 11:20, 8:24] = feeds["first"][:, :, 11:20, 8:24]
        return {"middle": middle}

    assert errors(frames_of(greys([60] * 3)), FakeSession(only_border)).error.tolist() == [0]


# ------------------------------------------------------------------------------------------- the real network

FAULTS = np.array([15, 31, 46])
DAMAGES: Mapping[str, Callable[[I64], I64]] = {
    "three frames dropped": lambda k: np.delete(k, FAULTS),
    "three frames replaced by the one before": lambda k: np.where(np.isin(k, FAULTS), k - 1, k),
    "three pairs swapped": lambda k: np.where(np.isin(k, FAULTS), k + 1, np.where(np.isin(k, FAULTS + 1), k - 1, k)),
    "every fourth frame doubled": lambda k: np.sort(np.concatenate([k, k[::4]]))[: len(k)],
}


def test_damage_costs_smoothness(clips: Path, models: SessionSource) -> None:
    view = View(Sampling("ranges", (((0, 66),),)), Fit.LONG_SIDE_MAX, LONG_SIDE, filter=Filter.AREA)
    film = view_of(clips / "bigbuckbunny.mp4", view).data
    order = np.arange(len(film))

    def mean(played: I64) -> float:
        return float(EXPERT(models).run(WANT, {"frames": frames_of(film[played])}).error.mean())

    untouched = mean(order)
    assert 0.2 < untouched < 2.0  # grey levels
    for name, damage in DAMAGES.items():
        assert mean(damage(order)) > untouched * 1.01, name


def test_a_still_clip_is_predicted_to_a_grey_level(models: SessionSource) -> None:
    still = np.random.default_rng(0).integers(0, 256, (1, 18, 32, 3), dtype=np.uint8).repeat(5, 1).repeat(5, 2)
    found = EXPERT(models).run(WANT, {"frames": frames_of(still.repeat(3, 0))})
    assert found.error.max() < 1.5
