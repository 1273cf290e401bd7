"""PLCMOS behind the speech gate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeechQuality
from evaluator.metrics.plcmos import METRIC
from tests.metrics.build import activity, plain, tags


def test_a_pure_tone_has_no_score() -> None:
    """The model rates it 4.9; nobody speaks."""
    with pytest.raises(NotApplicable, match="No speech"):
        METRIC.compute(quality=SpeechQuality(4.91, {}), activity=activity(0.0), tags=tags((0.0, 0.0)))


@given(st.floats(-2, 8))
def test_stays_in_range(mos: float) -> None:
    found = METRIC.compute(quality=SpeechQuality(mos, {"worst_part": mos}), activity=activity(), tags=tags())
    assert found.value == min(5.0, max(1.0, mos))
    assert found.details["worst_part"] == found.raw == mos
    assert plain(dict(found.details))
