"""CoVEBench 5.1 against its golden values (12.2) and scikit-image."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import gaussian_filter
from skimage.data import camera
from skimage.metrics import structural_similarity

from evaluator.errors import NotApplicable
from evaluator.metrics.base import Outcome
from evaluator.metrics.ssim import METRIC, ssim
from tests.metrics.build import gray, plain

PICTURE = camera()[100:324, 100:324]


def flat(level: int) -> np.ndarray:
    return np.full((224, 224), level, np.uint8)


def compare(output: np.ndarray, source: np.ndarray) -> Outcome:
    return METRIC.compute(output=gray(output), source=gray(source))


@pytest.mark.parametrize(("a", "b", "expected"), [(100, 150, 0.92309231), (0, 255, 9.999e-5), (7, 7, 1.0)])
def test_golden(a: int, b: int, expected: float) -> None:
    assert ssim(flat(a), flat(b)) == pytest.approx(expected, abs=5e-9)


def test_identical_is_exactly_one() -> None:
    assert compare([PICTURE] * 3, [PICTURE] * 3).value == 1.0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 120))
def test_equals_scikit_image(seed: int, spread: float) -> None:
    noisy = PICTURE + np.random.default_rng(seed).normal(0, spread, PICTURE.shape)
    other = np.clip(noisy, 0, 255).astype(np.uint8)
    assert ssim(other, PICTURE) == pytest.approx(structural_similarity(other, PICTURE, data_range=255), abs=1e-10)


def test_negative_for_the_inverse() -> None:
    texture = np.random.default_rng(0).integers(0, 256, (224, 224)).astype(np.uint8)
    assert -1.0 <= compare([255 - texture], [texture]).value < -0.5


@pytest.mark.parametrize("distort", ["blur", "noise"])
def test_falls_with_distortion(distort: str) -> None:
    clip = np.stack([PICTURE, PICTURE[::-1]])
    grain = np.random.default_rng(1).normal(size=clip.shape)
    changed = {
        "blur": [gaussian_filter(clip, (0, s, s)) for s in (0.0, 0.7, 1.5, 4.0)],
        "noise": [np.clip(clip + s * grain, 0, 255) for s in (0, 5, 20, 60)],
    }[distort]
    scores = [compare(one, clip).value for one in changed]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 0.3


def test_pairs_by_rank_up_to_the_shorter() -> None:
    found = compare([PICTURE, flat(0), flat(90)], [PICTURE, flat(255)])
    assert found.value == pytest.approx((1.0 + 9.999e-5) / 2)
    assert len(found.details["per_pair"]) == 2
    assert found.details["output_index"] == [0, 1]
    assert plain(dict(found.details))


def test_no_frame_no_answer() -> None:
    with pytest.raises(NotApplicable):
        compare(np.zeros((0, 224, 224)), [PICTURE])
