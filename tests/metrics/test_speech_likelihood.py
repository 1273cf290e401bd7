"""Mean probability of speech."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.speech_likelihood import METRIC
from tests.metrics.build import plain, tags


def test_mean_and_top() -> None:
    found = METRIC.compute(tags=tags((0.2, 0.6)))
    assert found.value == pytest.approx(0.4)
    assert found.details["max"] == pytest.approx(0.6)
    assert [one["name"] for one in found.details["top"]] == ["Speech", "Music", "Dog"]
    assert METRIC.compute(tags=tags((0.1,))).details["top"][0]["name"] == "Music"


def test_no_patch_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(tags=tags(()))


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=30))
def test_lies_between_the_extremes(speech: list[float]) -> None:
    found = METRIC.compute(tags=tags(speech))
    assert min(speech) - 1e-6 <= found.value <= max(speech) + 1e-6
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
