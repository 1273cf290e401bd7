"""The bootstrap interval against theory, scipy, and itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.bootstrap import mean_interval


def test_it_agrees_with_scipy() -> None:
    values = np.random.default_rng(3).normal(5, 2, 60)
    ours = mean_interval(values.tolist())
    theirs = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, rng=7).confidence_interval
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.08)


def test_it_covers_the_true_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(11)
    intervals = [mean_interval(rng.normal(0, 1, 50).tolist()) for _ in range(300)]
    covered = np.mean([low <= 0 <= high for low, high in intervals if low is not None])
    assert 0.90 <= covered <= 0.98


def test_the_same_values_give_the_same_interval() -> None:
    assert mean_interval([1.0, 2.0, 4.0]) == mean_interval([1.0, 2.0, 4.0])


@pytest.mark.parametrize("values", [[], [0.5]])
def test_too_few_values_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_the_interval_lies_within_the_values(values: list[float]) -> None:
    interval = mean_interval(values)
    assert interval is not None
    slack = 1e-9 * max(1.0, max(abs(value) for value in values))
    assert min(values) - slack <= interval[0] <= interval[1] <= max(values) + slack
