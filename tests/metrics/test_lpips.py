"""Mean perceptual distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameDistance
from evaluator.metrics.base import Outcome
from evaluator.metrics.lpips import METRIC
from tests.metrics.build import plain


def distance(values: list[float]) -> Outcome:
    return METRIC.compute(distance=FrameDistance(np.array(values, np.float32)))


def test_mean() -> None:
    assert distance([0.0, 0.25, 0.5]).value == 0.25
    assert distance([0.0] * 10).value == 0.0


def test_no_pair_no_answer() -> None:
    with pytest.raises(NotApplicable):
        distance([])


@given(st.lists(st.floats(0, 10, width=32), min_size=1, max_size=10))
def test_stays_in_range(values: list[float]) -> None:
    found = distance(values)
    assert 0.0 <= found.value <= max(values) + 1e-6
    assert found.details["per_pair"] == values
    assert plain(dict(found.details))
