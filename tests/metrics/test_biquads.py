"""Block filtering against SciPy's loop over samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import butter, sosfilt

from evaluator.metrics.biquads import BLOCK, cascade
from evaluator.metrics.loudness import K_WEIGHTING


def noise(count: int) -> np.ndarray:
    return np.random.default_rng(count).standard_normal(count)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3 * BLOCK + 2))
def test_any_length_is_filtered_as_by_scipy(count: int) -> None:
    np.testing.assert_allclose(cascade(K_WEIGHTING, noise(count)), sosfilt(K_WEIGHTING, noise(count)), atol=1e-11)


@pytest.mark.parametrize("band", [(20.0, 60.0), (500.0, 4000.0)])
def test_slow_and_fast_poles_stay_exact_over_a_minute(band: tuple[float, float]) -> None:
    sections = butter(2, band, "bandpass", fs=48_000, output="sos")
    expected = sosfilt(sections, noise(60 * 48_000))
    assert np.abs(cascade(sections, noise(60 * 48_000)) - expected).max() < 1e-9 * np.abs(expected).max()


def test_the_future_is_not_heard() -> None:
    first = noise(2 * BLOCK)
    second = np.concatenate([first[: BLOCK + 7], -first[BLOCK + 7 :]])
    a, b = cascade(K_WEIGHTING, first), cascade(K_WEIGHTING, second)
    np.testing.assert_allclose(a[: BLOCK + 7], b[: BLOCK + 7], atol=1e-12)
    assert np.abs(a[BLOCK + 7 :] - b[BLOCK + 7 :]).max() > 0.1
