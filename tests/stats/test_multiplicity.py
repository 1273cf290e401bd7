"""Holm's correction against a worked example and against the procedure as Holm describes it."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.multiplicity import holm


def step_down(p_values: list[float], level: float) -> list[bool]:
    """Reject the smallest p while it is at most level / (number of hypotheses left); stop at the first that is not."""
    rejected = [False] * len(p_values)
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        if p_values[index] > level / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


def test_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_it_decides_as_the_step_down_procedure(p_values: list[float], level: float) -> None:
    by_hand = step_down(p_values, level)
    near = any(abs(p * k - level) < 1e-9 for p in p_values for k in range(1, len(p_values) + 1))
    assert near or [p <= level for p in holm(p_values)] == by_hand


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_it_lies_between_no_correction_and_bonferroni(p_values: list[float]) -> None:
    for plain, adjusted in zip(p_values, holm(p_values), strict=True):
        assert plain <= adjusted <= min(1.0, plain * len(p_values))


def test_thirteen_models_make_the_78_tests_of_cutcraft() -> None:
    """The smallest p of 10,000 draws, with +1 smoothing, is still significant when multiplied by 78."""
    pairs = list(combinations(range(13), 2))
    assert len(pairs) == 78
    adjusted = holm([2 / 10_001] * 71 + [0.5] * 7)
    assert sum(p <= 0.05 for p in adjusted) == 71
