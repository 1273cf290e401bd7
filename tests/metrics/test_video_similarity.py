"""Cosine of mean frame embeddings in the shape of AVE-Compass 4.8."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.video_similarity import METRIC
from tests.metrics.build import embeddings, plain, unit_rows


def random_rows(frames: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(frames, 16))


def test_a_clip_equals_itself() -> None:
    clip = unit_rows(random_rows(8, 0))
    assert METRIC.compute(output=clip, source=clip).value == pytest.approx(1.0)


def test_opposite_vectors_score_zero() -> None:
    a = np.tile([0.6, 0.8], (8, 1))
    assert METRIC.compute(output=embeddings(a), source=embeddings(-a)).value == pytest.approx(0.0, abs=1e-7)


def test_the_order_of_frames_is_not_seen() -> None:
    rows = random_rows(8, 1)
    backwards = METRIC.compute(output=unit_rows(rows[::-1]), source=unit_rows(rows))
    assert backwards.value == pytest.approx(1.0, abs=1e-6)


def test_the_last_frame_fills_up_to_eight() -> None:
    rows = unit_rows(random_rows(3, 2)).vectors
    filled = np.concatenate([rows, np.tile(rows[-1:], (5, 1))])
    other = unit_rows(random_rows(8, 3))
    short = METRIC.compute(output=embeddings(rows), source=other)
    assert short.value == pytest.approx(METRIC.compute(output=embeddings(filled), source=other).value, abs=1e-12)
    assert short.details == {"output_frames": 3, "source_frames": 8}


def test_falls_as_the_pictures_change() -> None:
    rows, change = random_rows(8, 4), random_rows(8, 5)
    scores = [METRIC.compute(output=unit_rows(rows + g * change), source=unit_rows(rows)).value for g in (0, 0.3, 1, 9)]
    assert scores == sorted(scores, reverse=True)


def test_no_frame_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(output=unit_rows(random_rows(0, 0)), source=unit_rows(random_rows(8, 0)))


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**31))
def test_stays_in_range(first: int, second: int, seed: int) -> None:
    found = METRIC.compute(output=unit_rows(random_rows(first, seed)), source=unit_rows(random_rows(second, seed + 1)))
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
