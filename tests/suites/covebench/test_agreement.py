"""Agreement with people: the adaptive tie threshold and what becomes of ties."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.stats.preference import adaptive_threshold
from evaluator.suites.covebench.agreement import preferences

TENTHS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]


def test_the_golden_threshold() -> None:
    """Spec section 12.2: |delta| of 0.1 .. 1.0 and 30 % human ties."""
    assert adaptive_threshold(TENTHS, 0.3) == pytest.approx(0.37)
    found = preferences(TENTHS, [0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    assert found.threshold == pytest.approx(0.37)
    assert (found.three_way, found.clear) == (1.0, 1.0)


def test_without_human_ties_the_metric_never_ties() -> None:
    found = preferences([0.0, 0.1], [1, 1])
    assert found.threshold is None
    assert found.three_way == 0.5
    assert found.clear == 0.5  # a difference of exactly 0 prefers nobody, which disagrees


def test_a_tie_of_one_side_only_disagrees() -> None:
    found = preferences([0.1, 0.9, -0.9, 0.8], [1, 0, -1, 1])  # threshold: 25th percentile of .1 .8 .9 .9 = 0.625
    assert found.threshold == pytest.approx(0.625)
    assert found.three_way == 0.5
    assert found.clear == 1.0


def test_when_people_see_ties_only_nothing_is_clear() -> None:
    found = preferences([0.3, -0.2], [0, 0])
    assert (found.three_way, found.clear) == (1.0, None)


DELTAS = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(DELTAS, st.integers(0, 2**32 - 1))
def test_which_output_is_called_the_first_does_not_matter(deltas: list[float], seed: int) -> None:
    human = np.random.default_rng(seed).integers(-1, 2, len(deltas)).tolist()
    turned = preferences([-value for value in deltas], [-value for value in human])
    assert turned == preferences(deltas, human)
