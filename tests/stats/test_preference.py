"""Preferences: the worked examples of the specs, and the definitions on small tables."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.stats.preference import (
    adaptive_threshold,
    agreements,
    between_annotators,
    leave_one_out,
    leave_one_out_of,
    majority,
    sign,
    win_rates,
)

SIGNS = st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0, np.nan]), min_size=3, max_size=3), min_size=1, max_size=6)


def test_the_threshold_of_covebench() -> None:
    deltas = np.arange(1, 11) / 10
    assert adaptive_threshold(-deltas, 0.30) == pytest.approx(0.37)  # spec, section 12.2
    assert (sign(deltas, adaptive_threshold(deltas, 0.30)) == 0).mean() == 0.30


def test_without_human_ties_a_metric_never_ties() -> None:
    threshold = adaptive_threshold([1e-9, 0.5], 0.0)
    assert sign(np.asarray([1e-9, -0.5]), threshold).tolist() == [1.0, -1.0]


def test_the_win_rates_of_multiref_compass() -> None:
    assert win_rates([("x", "y", 1), ("x", "z", 1), ("y", "z", 0)]) == {"x": 1.0, "y": 0.25, "z": 0.25}


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.sampled_from("stu"), st.sampled_from([-1, 0, 1])), min_size=1))
def test_every_comparison_gives_away_one_win(winners: list[tuple[str, str, int]]) -> None:
    rates = win_rates(winners)
    met = {system: sum(system in pair[:2] for pair in winners) for system in rates}
    assert sum(rates[system] * met[system] for system in rates) == pytest.approx(len(winners))


def test_close_scores_are_equal() -> None:
    assert sign(np.asarray([2e-6, -2e-6, 9e-7, 0.0])).tolist() == [1, -1, 0, 0]
    assert np.isnan(sign(np.asarray([np.nan])))


def test_an_even_split_is_a_tie_and_nobody_is_nobody() -> None:
    nobody = np.nan
    votes = np.asarray([[1, 1, -1, -1], [1, 1, -1, nobody], [0, 0, -1, nobody], [nobody] * 4])
    assert majority(votes)[:3].tolist() == [0, 1, -1]
    assert np.isnan(majority(votes)[3])


def test_ties_of_either_side_are_left_out() -> None:
    ours, theirs = np.asarray([1, 1, 0, 1, np.nan]), np.asarray([1, -1, 1, 0, 1])
    assert agreements(ours, theirs).tolist() == [[1, 1], [0, 1], [0, 0], [0, 0], [0, 0]]


@given(SIGNS)
def test_people_against_each_other_by_counting(rows: list[list[float]]) -> None:
    signs = np.asarray(rows)
    counted = [
        [
            sum(a == b for a, b in combinations(row, 2) if a in {-1, 1} and b in {-1, 1}),
            sum(a in {-1, 1} and b in {-1, 1} for a, b in combinations(row, 2)),
        ]
        for row in rows
    ]
    assert between_annotators(signs).tolist() == counted


@given(SIGNS)
def test_leave_one_out_by_leaving_one_out(rows: list[list[float]]) -> None:
    signs = np.asarray(rows)
    judge = np.ones(len(rows))
    for out in range(3):
        rest = majority(np.delete(signs, out, axis=1))
        assert leave_one_out(signs)[:, out].tolist() == agreements(signs[:, out], rest).tolist()
        assert leave_one_out_of(judge, signs)[:, out].tolist() == agreements(judge, rest).tolist()
