"""Repeated runs: the worked example of MultiRef-Compass."""

from __future__ import annotations

import pytest

from evaluator.stats.repeats import item_error, relative_sd, spread

FIVE = [3.95, 3.97, 3.96, 3.98, 3.94]


def test_the_relative_deviation_of_multiref_compass() -> None:
    assert relative_sd(FIVE) == pytest.approx(0.39928, abs=5e-6)  # spec, section 5


def test_it_does_not_depend_on_the_unit() -> None:
    assert relative_sd([-100 * value for value in FIVE]) == pytest.approx(relative_sd(FIVE))


@pytest.mark.parametrize("means", [[], [3.0], [1.0, -1.0]])
def test_what_has_no_relative_deviation(means: list[float]) -> None:
    assert relative_sd(means) is None


def test_the_spread_of_runs() -> None:
    assert spread(FIVE) == pytest.approx(0.04)
    assert spread([]) is None


def test_the_error_of_items_is_their_distance_from_their_own_mean() -> None:
    assert item_error([[1.0, 1.0, 1.0], [0.0, 3.0, 3.0]]) == pytest.approx((0 + (2 + 1 + 1) / 3) / 2)
