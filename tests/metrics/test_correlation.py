"""Lagged correlations against slow, literal versions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluator.metrics.correlation import masked_correlation, pearson, spectrogram_correlation


def literal(a: np.ndarray, b: np.ndarray, lag: int) -> float:
    """The correlation of AVE-Compass 4.9, step 5, as it is written there."""
    x, y = (a[lag:], b) if lag >= 0 else (a, b[-lag:])
    n = min(len(x), len(y))
    if n < 2:
        return -1.0
    x, y = x[:n].ravel(), y[:n].ravel()
    if min(x.std(), y.std()) < 1e-8:
        return -1.0
    return float(np.mean((x - x.mean()) / x.std() * (y - y.mean()) / y.std()))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.integers(1, 25), st.integers(0, 2**32 - 1))
def test_equals_the_literal_definition(frames_a: int, frames_b: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    a, b = generator.exponential(size=(frames_a, 7)), generator.exponential(size=(frames_b, 7))
    limit = min(frames_a, frames_b) // 2
    expected = [literal(a, b, lag) for lag in range(-limit, limit + 1)]
    np.testing.assert_allclose(spectrogram_correlation(a, b, limit), expected, atol=1e-10)


def test_a_constant_stretch_is_undefined() -> None:
    a = np.concatenate([np.random.default_rng(0).exponential(size=(5, 3)), np.zeros((5, 3))])
    assert spectrogram_correlation(a, a[:5], 5)[10] == -1.0  # lag 5: zeros against sound


def test_pearson_equals_scipy() -> None:
    x, y = np.random.default_rng(1).normal(size=(2, 50))
    assert pearson(x, y) == pytest.approx(stats.pearsonr(x, y).statistic)


@pytest.mark.parametrize("constant", [0.1, 1e9 + 0.1])
def test_a_constant_series_moves_with_nothing(constant: float) -> None:
    assert pearson(np.full(31, constant), np.arange(31.0)) == 0.0


def test_masked_correlation_finds_a_shift_around_gaps() -> None:
    y = np.random.default_rng(2).normal(size=120)
    x = y[10 + 4 : 110 + 4].copy()  # x[j] = y[j + 14], lag +4 of +-10
    x[20:30] = np.nan
    correlation = masked_correlation(x, y, 10, min_pairs=90)
    assert int(correlation.argmax()) == 14
    assert correlation[14] == pytest.approx(1.0)


def test_masked_correlation_needs_pairs() -> None:
    x = np.array([1.0, 3.0, 2.0, np.nan])
    assert np.isnan(masked_correlation(x, np.arange(6.0), 1, min_pairs=4)).all()
    assert np.isfinite(masked_correlation(x, np.arange(6.0), 1, min_pairs=3)).all()
