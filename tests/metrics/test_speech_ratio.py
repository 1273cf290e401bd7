"""Share of voice activity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeechActivity
from evaluator.metrics.speech_ratio import METRIC
from tests.metrics.build import activity, plain


@pytest.mark.parametrize(("speech", "ratio"), [(0.0, 0.0), (2.0, 0.4), (5.0, 1.0)])
def test_share(speech: float, ratio: float) -> None:
    found = METRIC.compute(activity=activity(speech, duration=5.0))
    assert found.value == pytest.approx(ratio, abs=0.01)
    assert found.raw == pytest.approx(speech, abs=0.05)


def test_segments_are_listed() -> None:
    probability = np.array([0.9, 0.9, 0.1, 0.9], np.float32)
    found = METRIC.compute(activity=SpeechActivity(probability, 0.5, 1.9))
    assert found.details["segments_sec"] == [[0.0, 1.0], [1.5, 1.9]]


def test_no_sound_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(activity=SpeechActivity(np.zeros(0, np.float32), 0.032, 0.0))


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60), st.floats(0.001, 1.0))
def test_stays_in_range(probability: list[float], last: float) -> None:
    """The last step may reach beyond the sound."""
    duration = (len(probability) - 1 + last) * 0.032
    found = METRIC.compute(activity=SpeechActivity(np.array(probability, np.float32), 0.032, duration))
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
