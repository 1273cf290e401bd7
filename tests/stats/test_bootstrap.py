"""The bootstrap interval against theory, scipy, and itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.bootstrap import cluster_sums, draws, interval, mean_interval, mean_p, ratio


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


def bca(values: np.ndarray) -> tuple[float, float]:
    found = stats.bootstrap((values,), np.mean, method="BCa", n_resamples=20_000, rng=7).confidence_interval
    return found.low, found.high


def test_bca_agrees_with_scipy_on_skewed_values() -> None:
    values = np.exp(np.random.default_rng(2).normal(0, 1.2, 40))
    plain = mean_interval(values.tolist())
    assert mean_interval(values.tolist(), method="bca") == pytest.approx(bca(values), abs=0.05)
    assert plain is not None
    assert plain[1] < bca(values)[1] - 0.2  # the long tail is on the right, and so is the correction


def test_bca_of_equal_values_is_that_value() -> None:
    assert mean_interval([0.25] * 8, method="bca") == (0.25, 0.25)


def test_each_value_its_own_group_is_no_grouping() -> None:
    values = np.random.default_rng(1).normal(0, 1, 30).tolist()
    assert mean_interval(values, groups=range(30)) == pytest.approx(mean_interval(values), abs=1e-12)


def test_repeating_every_value_does_not_make_a_clustered_interval_narrower() -> None:
    values = np.random.default_rng(2).normal(0, 1, 25).tolist()
    four_times = [value for value in values for _ in range(4)]
    groups = [index for index in range(25) for _ in range(4)]
    assert mean_interval(four_times, groups=groups) == pytest.approx(mean_interval(values), abs=1e-12)
    naive = mean_interval(four_times)
    honest = mean_interval(values)
    assert naive is not None
    assert honest is not None
    assert naive[1] - naive[0] == pytest.approx((honest[1] - honest[0]) / 2, rel=0.15)


def test_one_group_has_no_interval() -> None:
    assert mean_interval([1.0, 2.0, 3.0], groups="aaa") is None


def test_groups_weigh_by_their_size() -> None:
    """Resamples of {0, 0, 0} and {4} are 0, 4 or (0 + 4) / 4 = 1: never 2, the mean of the group means."""
    rows = cluster_sums([0.0, 0.0, 0.0, 4.0], "aaab")
    means = draws(2, lambda chosen: ratio(rows[chosen].sum(axis=1)), 400, 0)
    assert set(means.tolist()) == {0.0, 1.0, 4.0}


def test_a_figure_that_mostly_does_not_exist_has_no_interval() -> None:
    def rarely(rows: np.ndarray) -> np.ndarray:
        return np.where(rows[:, 0] == 0, 1.0, np.nan)

    assert interval(5, rarely) is None


def test_resampled_p_of_cutcraft() -> None:
    rng = np.random.default_rng(9)
    clear, none = rng.normal(1, 1, 60), rng.normal(0, 1, 60)
    none -= none.mean()
    assert mean_p(clear.tolist(), range(60)) == pytest.approx(2 / 10_001)  # +1 smoothing: never 0
    assert mean_p(none.tolist(), range(60)) == pytest.approx(1.0, abs=0.05)
    slight = rng.normal(0, 1, 60) + 0.2
    ours = mean_p(slight.tolist(), range(60))
    assert ours == pytest.approx(stats.ttest_1samp(slight, 0).pvalue, abs=0.04)
    assert mean_p([1.0], "a") is None
