"""Number of shots."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.shot_count import METRIC
from tests.metrics.build import plain, shot_scores


def test_one_shot_without_a_transition() -> None:
    found = METRIC.compute(scores=shot_scores(np.zeros(50)))
    assert found.value == 1.0
    assert found.details["shots"] == [{"start_frame": 0, "end_frame": 49, "start_sec": 0.0, "end_sec": 1.96}]


@pytest.mark.parametrize("cuts", range(5))
def test_each_cut_adds_a_shot(cuts: int) -> None:
    probability = np.zeros(100)
    probability[15 : 15 * (cuts + 1) : 15] = 0.9
    assert METRIC.compute(scores=shot_scores(probability)).value == cuts + 1


def test_a_transition_at_an_edge_separates_nothing() -> None:
    assert METRIC.compute(scores=shot_scores([0.9, 0, 0, 0])).value == 1.0
    assert METRIC.compute(scores=shot_scores([0, 0, 0, 0.9])).value == 1.0


def test_no_frame_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(scores=shot_scores([]))


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60))
def test_at_least_one_and_plain(probability: list[float]) -> None:
    found = METRIC.compute(scores=shot_scores(probability))
    assert found.value >= 1.0
    assert plain(dict(found.details))
