"""AVE-Compass 4.5, step 4."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics
from evaluator.metrics.base import Outcome
from evaluator.metrics.video_aesthetic import METRIC
from tests.metrics.build import plain


def rate(values: list[float]) -> Outcome:
    return METRIC.compute(aesthetics=FrameAesthetics(np.array(values, np.float32), np.arange(len(values))))


@pytest.mark.parametrize(("values", "score"), [([4.0, 5.0], 0.45), ([12.0], 1.0), ([-1.0], 0.0)])
def test_mean_over_ten(values: list[float], score: float) -> None:
    assert rate(values).value == pytest.approx(score)
    assert rate(values).raw == pytest.approx(np.mean(values))


def test_no_frame_no_answer() -> None:
    with pytest.raises(NotApplicable):
        rate([])


@given(st.lists(st.floats(-5, 15, width=32), min_size=1, max_size=10))
def test_stays_in_range(values: list[float]) -> None:
    found = rate(values)
    assert 0.0 <= found.value <= 1.0
    assert found.details["per_frame"] == values
    assert plain(dict(found.details))
