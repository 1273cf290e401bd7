"""AVE-Compass 4.7, steps 6 and 7, and its formula values (12.4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import InterpolationError
from evaluator.metrics.base import Outcome
from evaluator.metrics.motion_smoothness import METRIC
from tests.metrics.build import plain


def smoothness(error: list[float]) -> Outcome:
    values = np.array(error, np.float32)
    return METRIC.compute(interpolation=InterpolationError(values, 2 * np.arange(len(values)) + 1, False, "all pairs"))


@pytest.mark.parametrize(("d", "score"), [(0.0, 1.0), (2.55, 0.99), (255.0, 0.0)])
def test_golden(d: float, score: float) -> None:
    found = smoothness([d, d])
    assert found.value == pytest.approx(score, abs=1e-7)
    assert found.raw == pytest.approx(d)


def test_details() -> None:
    found = smoothness([0.2, 3.0, 0.1])
    assert found.details["percentiles"]["p50"] == pytest.approx(0.2)
    assert (found.details["pairs"], found.details["worst_frame"], found.details["plan"]) == (3, 3, "all pairs")
    assert found.details["static"] is False
    assert smoothness([0.2, 0.4]).details["static"] is True


def test_needs_three_frames() -> None:
    with pytest.raises(NotApplicable):
        smoothness([])


@given(st.lists(st.floats(0, 255, width=32), min_size=1, max_size=50))
def test_stays_in_range(error: list[float]) -> None:
    found = smoothness(error)
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
