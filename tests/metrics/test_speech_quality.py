"""AVE-Compass 4.2, step 6, and its formula values (12.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeechQuality
from evaluator.metrics.base import Outcome
from evaluator.metrics.speech_quality import METRIC
from tests.metrics.build import activity, plain, tags


def rate(mos: float) -> Outcome:
    quality = SpeechQuality(mos, {"noisiness": 3.0})
    return METRIC.compute(quality=quality, activity=activity(), tags=tags())


@pytest.mark.parametrize(("mos", "score"), [(1.0, 0.0), (3.0, 0.5), (5.0, 1.0), (0.8113, 0.0)])
def test_golden(mos: float, score: float) -> None:
    assert rate(mos).value == score
    assert rate(mos).raw == mos


def test_details_carry_diagnostics_and_evidence() -> None:
    details = rate(3.0).details
    assert details["diagnostics"] == {"noisiness": 3.0}
    assert details["speech_seconds"] > 2.9


def test_no_speech_no_score() -> None:
    with pytest.raises(NotApplicable, match="No speech"):
        METRIC.compute(quality=SpeechQuality(4.9, {}), activity=activity(0.0), tags=tags((0.01,)))


@given(st.floats(-1, 7))
def test_stays_in_range(mos: float) -> None:
    found = rate(mos)
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
