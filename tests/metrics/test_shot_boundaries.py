"""Number of transitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.shot_boundaries import METRIC
from tests.metrics.build import plain, shot_scores


def test_none() -> None:
    found = METRIC.compute(scores=shot_scores(np.full(30, 0.4)))
    assert (found.value, found.details["transitions"]) == (0.0, [])
    assert found.raw == pytest.approx(0.4)


def test_a_run_is_one_transition() -> None:
    found = METRIC.compute(scores=shot_scores([0, 0.6, 0.9, 0.7, 0, 0, 0.8]))
    assert found.value == 2.0
    assert [(one["start_frame"], one["end_frame"], one["peak_frame"]) for one in found.details["transitions"]] == [
        (1, 3, 2),
        (6, 6, 6),
    ]


def test_no_frame_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(scores=shot_scores([]))


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60))
def test_counts_rising_edges(probability: list[float]) -> None:
    above = np.array(probability) > 0.5
    found = METRIC.compute(scores=shot_scores(probability))
    assert found.value == int(above[0]) + int((above[1:] & ~above[:-1]).sum())
    assert plain(dict(found.details))
