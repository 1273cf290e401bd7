"""AVE-Compass 4.1, step 7, and its formula value (12.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioAesthetics
from evaluator.media.types import Audio
from evaluator.metrics.audio_aesthetic import METRIC
from evaluator.metrics.base import Outcome
from tests.metrics.build import plain, silent, tone

HEARD = tone(0.1)


def rate(quality: float, usefulness: float, audio: Audio = HEARD) -> Outcome:
    axes = {"PQ": quality, "CU": usefulness, "CE": 5.146, "PC": 2.148}
    return METRIC.compute(aesthetics=AudioAesthetics(axes, 1), sound=audio)


def test_golden() -> None:
    found = rate(7.220, 5.779)
    assert found.value == pytest.approx(0.64995, abs=1e-9)
    assert found.details["axes"]["CE"] == 5.146


@pytest.mark.parametrize("audio", [silent(1.0), silent(1.0, present=False)])
def test_silence_has_no_score(audio: Audio) -> None:
    with pytest.raises(NotApplicable, match="silent"):
        rate(7.0, 7.0, audio)


@given(st.floats(-5, 15), st.floats(-5, 15))
def test_stays_in_range(quality: float, usefulness: float) -> None:
    found = rate(quality, usefulness)
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
