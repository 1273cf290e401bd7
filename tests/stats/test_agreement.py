"""Coefficients of agreement against published tables, the figures of AVENUE, and their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.agreement import Weights, cohen_kappa, confusion, gwet_ac1, observed

MARGINAL, AGREED = 0.18671395, 0.906
AVENUE = np.asarray(
    [
        [MARGINAL - (1 - AGREED) / 2, (1 - AGREED) / 2],
        [(1 - AGREED) / 2, 1 - MARGINAL - (1 - AGREED) / 2],
    ]
)
"""The verification of instructions by two experts (spec section 5.3): equal marginals, raw agreement 90.6 %."""

FUN = np.asarray([[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]], float)
"""Husbands' against wives' answers, four ordered categories (Hout, Duncan, Sobel 1987; Agresti 1990, section 2.4)."""

TABLES = st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3)


def test_the_three_figures_of_avenue() -> None:
    assert observed(AVENUE) == pytest.approx(0.906)
    assert cohen_kappa(AVENUE) == pytest.approx(0.69049, abs=5e-6)
    assert gwet_ac1(AVENUE) == pytest.approx(0.8650, abs=5e-5)


@pytest.mark.parametrize(("weights", "published"), [("none", 0.1293), ("linear", 0.2374)])
def test_kappa_of_a_published_table(weights: Weights, published: float) -> None:
    assert cohen_kappa(FUN, weights) == pytest.approx(published, abs=5e-5)


def test_where_kappa_collapses_ac1_does_not() -> None:
    """Gwet's paradox: 118 of 125 equal, nearly all in one category."""
    counts = np.asarray([[118.0, 5.0], [2.0, 0.0]])
    assert cohen_kappa(counts) == pytest.approx(-0.0234, abs=5e-5)
    assert gwet_ac1(counts) == pytest.approx(0.9408, abs=5e-5)


@given(TABLES, st.sampled_from(["none", "linear", "quadratic"]))
def test_kappa_is_its_definition(table: list[list[int]], weights: Weights) -> None:
    counts = np.asarray(table, float)
    cost = {"none": lambda d: d > 0, "linear": lambda d: d, "quadratic": lambda d: d * d}[weights]
    n = counts.sum()
    seen = chance = 0.0
    for i in range(3):
        for j in range(3):
            seen += cost(abs(i - j)) * counts[i, j]
            chance += cost(abs(i - j)) * counts[i].sum() * counts[:, j].sum() / max(n, 1)
    ours = cohen_kappa(counts, weights)
    assert np.isnan(ours) if chance == 0 else ours == pytest.approx(1 - seen / chance)


def test_two_categories_leave_nothing_to_weigh() -> None:
    assert cohen_kappa(AVENUE, "linear") == pytest.approx(cohen_kappa(AVENUE))
    assert cohen_kappa(AVENUE, "quadratic") == pytest.approx(cohen_kappa(AVENUE))


def test_many_tables_are_one_call() -> None:
    both = np.stack([FUN, np.eye(4)])
    assert cohen_kappa(both) == pytest.approx([float(cohen_kappa(FUN)), 1.0])
    assert gwet_ac1(both) == pytest.approx([float(gwet_ac1(FUN)), 1.0])


def test_a_table_is_counted_from_ratings() -> None:
    assert confusion("aabb", "abbb", "ab").tolist() == [[1, 1], [0, 2]]
    with pytest.raises(KeyError):
        confusion("a", "c", "ab")


def test_no_ratings_have_no_agreement() -> None:
    empty = np.zeros((2, 2))
    assert np.isnan([observed(empty), cohen_kappa(empty), gwet_ac1(empty)]).all()
