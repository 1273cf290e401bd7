"""Fragments: draws that are the same for ever, runs inside their parts, patches inside their cells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.media.fragments import draw, patch_corners, run_positions, run_starts
from evaluator.media.sampling import select
from evaluator.media.types import F64
from evaluator.schema import Sampling

RUNS, LENGTH, INTERVAL, SPAN = 3, 32, 2, 64
SEEDS = st.integers(0, 2**31 - 1)


def times(count: int, rate: float = 25.0) -> F64:
    return np.arange(count) / rate


def test_draws_never_change() -> None:
    assert [draw(1000, 7, "start", k) for k in range(4)] == [295, 174, 752, 278]
    assert draw(1, 7) == draw(0, 7) == draw(-5, 7) == 0


@given(SEEDS, st.integers(2, 10_000))
def test_a_draw_is_below_its_bound(seed: int, below: int) -> None:
    assert 0 <= draw(below, seed, "x") < below


def test_draws_are_spread_evenly() -> None:
    counts = np.bincount([draw(10, seed, "start") for seed in range(2000)], minlength=10)
    assert counts.min() > 150
    assert counts.max() < 250


@given(st.integers(1, 2000), SEEDS)
def test_a_run_starts_in_its_own_third(frames: int, seed: int) -> None:
    third = frames // RUNS
    inside = run_starts(frames, RUNS, SPAN, seed) - third * np.arange(RUNS)
    assert (inside >= 0).all()
    assert (inside < max(1, third - SPAN)).all()


def test_a_short_third_starts_at_its_beginning() -> None:
    assert run_starts(192, RUNS, SPAN, 1).tolist() == [0, 64, 128]
    assert run_starts(2, RUNS, SPAN, 1).tolist() == [0, 0, 0]


def test_positions_wrap_around_the_end() -> None:
    starts = run_starts(100, RUNS, SPAN, 5)
    assert starts.tolist() == [0, 33, 66]
    positions = run_positions(starts, LENGTH, INTERVAL, 100)
    assert positions[0].tolist() == list(range(0, 64, 2))
    assert positions[2].tolist() == [*range(66, 100, 2), *range(0, 30, 2)]


@given(st.integers(1, 400), SEEDS)
def test_the_sampling_rule_picks_the_frames_of_all_runs(frames: int, seed: int) -> None:
    found = select(Sampling("fragments", (RUNS, LENGTH, INTERVAL, seed)), times(frames))
    positions = run_positions(run_starts(frames, RUNS, SPAN, seed), LENGTH, INTERVAL, frames)
    assert found.tolist() == sorted(set(positions.ravel().tolist()))


@given(st.integers(32, 2200), st.integers(32, 4000), SEEDS)
def test_patches_stay_in_their_cells_and_in_the_picture(height: int, width: int, seed: int) -> None:
    corners = patch_corners(height, width, 32, 7, seed, 0)
    assert corners.shape == (7, 7, 2)
    for axis, size in enumerate((height, width)):
        cell = size // 7
        first = np.minimum(np.arange(7) * cell, size - 32)
        inside = np.moveaxis(corners[..., axis], axis, 0) - first[:, None]
        assert (inside >= 0).all()
        assert (inside <= max(0, cell - 33)).all()
        assert (corners[..., axis] + 32 <= size).all()


def test_small_pictures_leave_no_choice() -> None:
    corners = patch_corners(224, 224, 32, 7, 99, 2)
    assert corners[:, 0, 0].tolist() == corners[0, :, 1].tolist() == [0, 32, 64, 96, 128, 160, 192]


def test_runs_and_seeds_have_patches_of_their_own() -> None:
    one = patch_corners(720, 1280, 32, 7, 1, 0)
    assert not np.array_equal(one, patch_corners(720, 1280, 32, 7, 1, 1))
    assert not np.array_equal(one, patch_corners(720, 1280, 32, 7, 2, 0))
    np.testing.assert_array_equal(one, patch_corners(720, 1280, 32, 7, 1, 0))


@pytest.mark.parametrize(
    ("rate", "step"), [(25.0, 12), (15.0, 8), (24.0, 12), (30.0, 15), (30000 / 1001, 15), (60.0, 30), (1.0, 1)]
)
@pytest.mark.parametrize("digits", [3, 9])
def test_stride_head_is_a_rounded_number_of_frames(rate: float, step: int, digits: int) -> None:
    """CoVEBench 10, point 8: 25 fps is looked at every 12 frames, 15 fps every 8; time stamps may be rounded."""
    found = select(Sampling("stride_head", (2, 32)), np.round(times(1200, rate), digits))
    assert found.tolist() == list(range(0, 1200, step))[:32]
