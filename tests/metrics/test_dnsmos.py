"""DNSMOS behind the speech gate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import DnsMos
from evaluator.metrics.dnsmos import METRIC
from tests.metrics.build import activity, plain, tags


def test_overall_is_the_value() -> None:
    found = METRIC.compute(quality=DnsMos(3.5, 4.0, 3.2, 3.9), activity=activity(), tags=tags())
    assert (found.value, found.raw) == (3.2, 3.2)
    assert [found.details[name] for name in ("SIG", "BAK", "P808")] == [3.5, 4.0, 3.9]


def test_no_speech_no_score() -> None:
    with pytest.raises(NotApplicable, match="No speech"):
        METRIC.compute(quality=DnsMos(3.5, 4.0, 3.2, 3.9), activity=activity(0.1), tags=tags())


@given(st.floats(-2, 8))
def test_stays_in_range(overall: float) -> None:
    found = METRIC.compute(quality=DnsMos(3.0, 3.0, overall, 3.0), activity=activity(), tags=tags())
    assert 1.0 <= found.value <= 5.0
    assert found.raw == overall
    assert plain(dict(found.details))
