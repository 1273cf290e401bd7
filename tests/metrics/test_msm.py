"""CoVEBench 4.3 and its golden values (12.2)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter

from evaluator.errors import NotApplicable
from evaluator.metrics.msm import METRIC, farneback, pair_score
from tests.metrics.build import gray, plain

CANVAS = gaussian_filter(np.random.default_rng(0).uniform(size=(400, 400)), 4)
CANVAS = ((CANVAS - CANVAS.min()) / np.ptp(CANVAS) * 255).astype(np.uint8)


def constant(x: float, y: float) -> np.ndarray:
    return np.tile([x, y], (8, 8, 1)).astype(np.float64)


def panning(offsets: list[int]) -> np.ndarray:
    """The same texture, shifted to the left by each offset."""
    return np.stack([CANVAS[:224, 80 + offset : 304 + offset] for offset in offsets])


@pytest.mark.parametrize(
    ("f", "g", "expected"),
    [
        ((2, 0), (2, 0), 0.99999991),
        ((2, 0), (-2, 0), 0.30000009),
        ((2, 0), (0, 2), 0.65),
        ((2, 0), (0, 0), 0.35000015),
        ((1, 0), (2, 0), 0.89999986),
        ((0.04, 0), (0.04, 0), 1.0),
        ((0, 0), (0, 0), 1.0),
    ],
)
def test_golden(f: tuple[float, float], g: tuple[float, float], expected: float) -> None:
    assert pair_score(constant(*f), constant(*g)) == pytest.approx(expected, abs=2e-8)


def test_flow_has_the_size_and_sign_of_the_motion() -> None:
    flow = farneback(*panning([0, 3]))[40:-40, 40:-40]
    np.testing.assert_allclose(np.median(flow, axis=(0, 1)), [-3.0, 0.0], atol=0.1)


def test_a_still_clip_is_smooth() -> None:
    assert METRIC.compute(frames=gray(panning([0] * 10))).value > 0.999
    blank = METRIC.compute(frames=gray(np.full((10, 224, 224), 90)))
    assert (blank.value, blank.details["mean_flow_px"]) == (1.0, 0.0)


def test_smooth_is_better_than_uneven_than_shaking() -> None:
    smooth = [2 * k for k in range(10)]
    uneven = [0, 1, 5, 6, 10, 11, 15, 16, 20, 21]
    shaking = [0, 3, 0, 3, 0, 3, 0, 3, 0, 3]
    scores = [METRIC.compute(frames=gray(panning(one))).value for one in (smooth, uneven, shaking)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] > 0.95
    assert scores[2] < 0.6


def test_eight_pairs_of_ten_frames() -> None:
    found = METRIC.compute(frames=gray(panning(list(range(10)))))
    assert len(found.details["per_pair"]) == 8
    assert found.value == pytest.approx(np.mean(found.details["per_pair"]))
    assert plain(dict(found.details))


@pytest.mark.parametrize("frames", [0, 2])
def test_needs_three_frames(frames: int) -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(frames=gray(np.zeros((frames, 224, 224))))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 30))
def test_pair_score_stays_in_range_and_is_symmetric(seed: int, spread: float) -> None:
    f, g = np.random.default_rng(seed).normal(0, spread, (2, 6, 6, 2))
    assert 0.0 <= pair_score(f, g) <= 1.0
    assert pair_score(f, g) == pytest.approx(pair_score(g, f), abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_stays_in_range_on_noise(seed: int) -> None:
    clip = np.random.default_rng(seed).integers(0, 256, (4, 64, 64))
    assert 0.0 <= METRIC.compute(frames=gray(clip)).value <= 1.0
