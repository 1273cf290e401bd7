"""Rank correlations against their definitions, with ties."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.ranks import kendall_tau_b, rank_correlation, spearman, tau_b_of_signs

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=12)


def average_ranks(values: list[int]) -> list[float]:
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def tau_b(first: list[int], second: list[int]) -> float:
    """(C - D) / sqrt((C + D + T_x)(C + D + T_y)), by counting."""
    c = d = tx = ty = 0
    for i, j in combinations(range(len(first)), 2):
        x, y = first[i] - first[j], second[i] - second[j]
        c, d = c + (x * y > 0), d + (x * y < 0)
        tx, ty = tx + (x == 0 and y != 0), ty + (y == 0 and x != 0)
    return (c - d) / np.sqrt((c + d + tx) * (c + d + ty))


@given(PAIRS)
def test_both_agree_with_their_definitions(pairs: list[tuple[int, int]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    rho, tau = spearman(first, second), kendall_tau_b(first, second)
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert rho is tau is rank_correlation(np.asarray(first), np.asarray(second)) is None
        return
    assert rho is not None
    assert tau is not None
    by_hand = np.corrcoef(average_ranks(first), average_ranks(second))[0, 1]
    assert rho[0] == pytest.approx(by_hand, abs=1e-12)
    assert rank_correlation(np.asarray(first), np.asarray(second)) == pytest.approx(by_hand, abs=1e-12)
    assert tau[0] == pytest.approx(tau_b(first, second), abs=1e-12)


@given(PAIRS)
def test_tau_b_over_signs_is_tau_b(pairs: list[tuple[int, int]]) -> None:
    ones, twos = np.triu_indices(len(pairs), k=1)
    data = np.asarray(pairs, float)
    signs = np.sign(data[ones] - data[twos])
    whole = kendall_tau_b(data[:, 0].tolist(), data[:, 1].tolist())
    ours = tau_b_of_signs(signs[:, 0], signs[:, 1])
    assert np.isnan(ours) if whole is None else ours == pytest.approx(whole[0], abs=1e-12)


def test_two_points_always_lie_on_a_line() -> None:
    assert spearman([1, 2], [1, 2]) is None
    assert kendall_tau_b([1, 2], [1, 2]) is None
