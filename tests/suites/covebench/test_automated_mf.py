"""MF: the published goldens of the cost, its degenerate cases, and what jitter, mirroring and order do to it."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.experts.features import PointTracks
from evaluator.experts.point_grid import SIDE
from evaluator.media.types import F64
from evaluator.metrics.base import Outcome
from evaluator.suites.covebench.motion_fidelity import METRIC, STRICT
from evaluator.suites.covebench.tracks_matching import (
    ALPHA,
    Summary,
    direction_costs,
    match,
    position_costs,
    summary,
)
from tests.metrics.build import plain

ACROSS = np.linspace(6, 378, 10)
GRID: F64 = np.stack(np.meshgrid(ACROSS, ACROSS), axis=-1).reshape(-1, 2)


def moving(velocity: tuple[float, float], position: F64 = GRID) -> Summary:
    """The published test case: tracks on a grid that all move alike."""
    return Summary(position, np.broadcast_to(np.array(velocity, np.float64), position.shape))


def fidelity(source: Summary, edit: Summary, rest_agrees: bool = False) -> float:
    return 1.0 - float(match(source, edit, SIDE, rest_agrees).cost.mean())


def tracks(xy: F64, visible: object = True) -> PointTracks:
    count = xy.shape[1]
    return PointTracks(xy.astype(np.float32), np.broadcast_to(visible, xy.shape[:2]), np.arange(count), SIDE)  # type: ignore[arg-type]


def film(velocity: F64 | tuple[float, float], count: int = 16, jitter: float = 0.0, seed: int = 0) -> PointTracks:
    """Tracks that start on the grid and move by a velocity, with random steps of `jitter` pixels on top."""
    way = np.arange(count)[None, :, None] * np.broadcast_to(np.asarray(velocity), GRID.shape)[:, None]
    noise = np.random.default_rng(seed).normal(0, jitter, (len(GRID), count, 2)).cumsum(axis=1) if jitter else 0.0
    return tracks(GRID[:, None] + way + noise)


def score(output: PointTracks, source: PointTracks) -> Outcome:
    return METRIC.compute(output=output, source=source)


# ------------------------------------------------------------------------------------------- published values


@pytest.mark.parametrize(
    ("source", "edit", "expected"),
    [
        (moving((3, 0)), moving((3, 0)), 0.99999994),
        (moving((0, 0)), moving((0, 0)), 0.5),
        (moving((3, 0)), moving((-3, 0)), 5.6e-8),
        (moving((3, 0)), moving((0, 3)), 0.5),
        (moving((3, 0)), moving((0, 0)), 0.5),
        (moving((3, 0)), moving((3, 0), GRID + np.array([38.4, 0])), 0.96464461),
    ],
    ids=["identical", "identical and still", "reversed", "orthogonal", "only one moves", "shifted by a tenth"],
)
def test_goldens_of_the_spec(source: Summary, edit: Summary, expected: float) -> None:
    assert fidelity(source, edit) == pytest.approx(expected, abs=6e-9)


def test_golden_of_two_tracks_in_another_order() -> None:
    two = GRID[[0, 57]]
    matched = match(moving((1, 0), two), moving((1, 0), two[::-1]), SIDE)
    assert 1.0 - float(matched.cost.mean()) == pytest.approx(0.9999995, abs=6e-8)
    assert matched.partner.tolist() == [1, 0]


# ---------------------------------------------------------------------------------------------- degenerate cases


def test_known_defect_identical_still_clips_have_one_half_unless_strict() -> None:
    """CoVEBench 10, point 4: a resting track has no direction. The details say so."""
    still = film((0.0, 0.0))
    found = score(still, still)
    assert found.value == 0.5
    assert found.details["no_motion"]
    assert found.details["resting"] == {"source": 1.0, "output": 1.0}
    assert STRICT.compute(output=still, source=still).value == 1.0


def test_strict_still_blames_an_edit_that_rests_where_the_source_moves() -> None:
    moves, still = film((2.0, 1.0)), film((0.0, 0.0))
    assert STRICT.compute(output=still, source=moves).value == pytest.approx(score(still, moves).value)
    assert STRICT.compute(output=moves, source=moves).value == pytest.approx(score(moves, moves).value)


def test_reversed_motion_may_be_negative() -> None:
    """Nothing is clipped: a reversed motion that ends elsewhere costs more than 1."""
    source = film((10.0, 0.0))
    found = score(tracks(source.xy[:, ::-1] + np.array([200.0, 0.0])), source)
    assert found.value < 0
    assert METRIC.range == (None, 1.0)


def test_speed_and_length_count_for_nothing() -> None:
    assert score(film((2.0, 0.0), 8), film((2.0, 0.0), 16)).details["direction_cost"] == pytest.approx(0, abs=1e-6)


# ------------------------------------------------------------------------------------------------- summaries


def test_only_visible_frames_count() -> None:
    xy = np.array([[[0, 0], [2, 0], [4, 6], [100, 100]]], np.float64)
    found = summary(tracks(xy, np.array([[True, False, True, False]])))
    np.testing.assert_allclose(found.position, [[2, 3]])
    np.testing.assert_allclose(found.velocity, [[(2 + 96) / 2, (0 + 94) / 2]])  # the steps that leave frames 0 and 2


def test_a_track_that_is_never_visible_counts_whole() -> None:
    xy = np.array([[[0, 0], [2, 0], [4, 6]]], np.float64)
    unseen, seen = summary(tracks(xy, False)), summary(tracks(xy, True))
    np.testing.assert_array_equal(unseen.position, seen.position)
    np.testing.assert_array_equal(unseen.velocity, [[2, 3]])


def test_a_track_that_is_seen_on_its_last_frame_only_takes_all_steps() -> None:
    xy = np.array([[[0, 0], [2, 0], [4, 6]]], np.float64)
    found = summary(tracks(xy, np.array([[False, False, True]])))
    np.testing.assert_array_equal(found.position, [[4, 6]])
    np.testing.assert_array_equal(found.velocity, [[2, 3]])


# --------------------------------------------------------------------------------------------------- properties

VECTORS = st.lists(st.tuples(*[st.floats(-20, 20)] * 4), min_size=1, max_size=4)


@given(VECTORS)
@settings(max_examples=60, deadline=None)
def test_the_assignment_is_the_cheapest_of_all(rows: list[tuple[float, ...]]) -> None:
    values = np.array(rows)
    source = Summary(values[:, :2] + 100, values[:, 2:])
    edit = Summary(values[::-1, :2] * 2 + 90, values[:, 2:][:, ::-1])
    cost = ALPHA * position_costs(source, edit, SIDE) + (1 - ALPHA) * direction_costs(source, edit)
    order = range(len(rows))
    best = min(sum(cost[i, j] for i, j in zip(order, chosen, strict=True)) for chosen in permutations(order))
    assert match(source, edit, SIDE).cost.sum() == pytest.approx(best)


@given(st.permutations(range(100)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_tracks_does_not_matter(order: list[int]) -> None:
    source, edit = film((3.0, 1.0), jitter=0.5), film((3.0, 0.0), jitter=1.0, seed=1)
    shuffled = tracks(edit.xy[order].astype(np.float64))
    assert score(shuffled, source).value == pytest.approx(score(edit, source).value, abs=1e-9)


def test_a_clip_is_faithful_to_itself_as_far_as_it_moves() -> None:
    speeds = np.where(np.arange(100)[:, None] < 30, [0.0, 0.0], [2.0, 1.0])
    found = score(film(speeds), film(speeds))
    assert found.value == pytest.approx(1 - 0.3 * 0.5, abs=1e-6)
    assert found.details["resting"]["source"] == pytest.approx(0.3)
    assert found.details["kept_place"] == 1.0


def test_more_jitter_is_less_faithful() -> None:
    source = film((2.0, 0.5))
    found = [score(film((2.0, 0.5), jitter=jitter), source).value for jitter in (0, 1, 2, 4, 8, 16)]
    assert all(a > b for a, b in pairwise(found)), found


def test_a_turned_motion_is_less_faithful_the_more_it_is_turned() -> None:
    source = film((2.0, 0.0))
    turned = [film((2 * np.cos(angle), 2 * np.sin(angle))) for angle in np.linspace(0, np.pi, 7)]
    found = [score(edit, source).value for edit in turned]
    assert all(a > b for a, b in pairwise(found)), found


def test_details_are_plain_and_add_up() -> None:
    found = score(film((2.0, 0.5), jitter=2), film((2.0, 0.5)))
    assert plain(dict(found.details))
    cost = (found.details["position_cost"] + found.details["direction_cost"]) / 2
    assert found.value == pytest.approx(1 - cost)
