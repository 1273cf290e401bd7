"""AVE-Compass 4.4 and its formula values (12.4)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SyncOffset
from evaluator.media.types import Audio
from evaluator.metrics.av_sync import METRIC
from evaluator.metrics.base import Outcome
from tests.metrics.build import plain, silent, tone

GRID = np.linspace(-2, 2, 21).astype(np.float32)
HEARD = tone(0.1)


def rate(probability: np.ndarray, audio: Audio = HEARD) -> Outcome:
    return METRIC.compute(offset=SyncOffset(probability.astype(np.float32), GRID, False), sound=audio)


def peak(offset: float) -> np.ndarray:
    weights = np.where(np.abs(GRID - offset) < 0.01, 5.0, 1.0)
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("offset", "score"), [(0.0, 1.0), (0.2, 0.9), (-0.2, 0.9), (1.4, 0.3), (2.0, 0.0), (-2.0, 0.0)]
)
def test_golden(offset: float, score: float) -> None:
    found = rate(peak(offset))
    assert found.value == pytest.approx(score, abs=1e-6)
    assert found.raw == pytest.approx(offset, abs=1e-6)


def test_details() -> None:
    certain = np.zeros(21)
    certain[10] = 1.0
    assert rate(certain).details["entropy_bits"] == 0.0
    assert rate(np.full(21, 1 / 21)).details["entropy_bits"] == pytest.approx(np.log2(21), abs=1e-5)
    top = rate(peak(0.4)).details["top"]
    assert len(top) == 5
    assert top[0]["offset_sec"] == pytest.approx(0.4)


def test_silence_has_no_score() -> None:
    with pytest.raises(NotApplicable, match="silent"):
        rate(peak(0.0), silent(5.0))


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_stays_in_range(seed: int) -> None:
    found = rate(np.random.default_rng(seed).dirichlet(np.ones(21)))
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
