"""Paired tests against Darwin's maize, scipy, and what must hold; effect sizes against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evaluator.stats.paired import EXACT_UNITS, cliffs_delta, cohen_dz, permutation_p, wilcoxon_p

DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
"""Cross- minus self-fertilised maize in eighths of an inch (Darwin 1876). Of the 2^15 sign patterns 863 have a sum of
at least the 314 that was seen (Fisher 1935, chapter III)."""

FLOATS = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=9)


def test_fishers_count_over_darwins_maize() -> None:
    assert permutation_p(DARWIN) == 2 * 863 / 2**15


def test_wilcoxon_over_darwins_maize() -> None:
    assert wilcoxon_p(DARWIN) == pytest.approx(0.04126, abs=5e-6)


@given(FLOATS)
def test_small_samples_agree_with_scipys_enumeration(differences: list[float]) -> None:
    theirs = stats.permutation_test((differences,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert permutation_p(differences) == pytest.approx(theirs.pvalue)


def test_large_samples_are_drawn_and_agree_with_enumeration() -> None:
    rng = np.random.default_rng(4)
    differences = rng.normal(0.45, 1, EXACT_UNITS + 2)
    signs = 1 - 2.0 * (np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1)
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    drawn = permutation_p(differences.tolist())
    assert drawn == pytest.approx(exact, abs=0.01)
    assert drawn == permutation_p(differences.tolist())


def test_a_drawn_p_is_never_zero() -> None:
    assert permutation_p([1.0] * 100) == pytest.approx(1 / 10_001)


def test_signs_of_a_group_change_together() -> None:
    """Ten outputs of two clips are two units: four patterns, two of them as extreme."""
    assert permutation_p([0.1] * 10, groups="aaaaabbbbb") == 0.5
    assert permutation_p([0.1] * 10) == 2 / 2**10
    assert wilcoxon_p([0.1, 0.3, 0.2, 0.2], groups="aabb") == wilcoxon_p([0.2, 0.2])


def test_chance_is_wrong_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(8)
    p_values = [permutation_p(rng.normal(0, 1, 10).tolist()) for _ in range(400)]
    assert np.mean([p <= 0.05 for p in p_values if p is not None]) == pytest.approx(0.05, abs=0.03)


@pytest.mark.parametrize("differences", [[], [0.3]])
def test_one_unit_has_no_p(differences: list[float]) -> None:
    assert permutation_p(differences) is None
    assert wilcoxon_p(differences) is None


def test_no_difference_is_no_evidence() -> None:
    assert permutation_p([0.0] * 5) == 1.0
    assert wilcoxon_p([0.0] * 5) == 1.0


def test_dz_is_t_over_the_root_of_n() -> None:
    t = stats.ttest_1samp(DARWIN, 0).statistic
    assert cohen_dz(DARWIN) == pytest.approx(t / np.sqrt(len(DARWIN)))


@pytest.mark.parametrize("differences", [[], [1.0], [0.2, 0.2, 0.2], [0.1 + 0.2, 0.3]])
def test_dz_needs_differences_that_vary(differences: list[float]) -> None:
    assert cohen_dz(differences) is None


@given(FLOATS, FLOATS)
def test_cliffs_delta_counts_pairs(first: list[float], second: list[float]) -> None:
    counted = np.mean([np.sign(b - a) for a in first for b in second])
    assert cliffs_delta(first, second) == pytest.approx(counted)
    theirs = stats.mannwhitneyu(second, first).statistic
    assert cliffs_delta(first, second) == pytest.approx(2 * theirs / (len(first) * len(second)) - 1)


def test_cliffs_delta_of_nothing() -> None:
    assert cliffs_delta([], [1.0]) is None
