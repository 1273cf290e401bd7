"""AVE-Compass 4.6 and its unit values (12.3)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.subject_consistency import METRIC
from tests.metrics.build import embeddings, plain, unit_rows


def test_golden() -> None:
    found = METRIC.compute(embeddings=embeddings([(1, 0), (0, 1), (1, 0)]))
    assert (found.value, found.raw) == (0.5, 0.0)
    assert found.details["pairwise_cosine"] == pytest.approx(1 / 3)


def test_equal_frames_score_one() -> None:
    assert METRIC.compute(embeddings=unit_rows(np.ones((50, 1280)))).value == pytest.approx(1.0, abs=1e-6)


def test_pairwise_equals_all_pairs() -> None:
    rows = unit_rows(np.random.default_rng(0).normal(size=(12, 5)))
    pairs = [a @ b for a, b in itertools.combinations(rows.vectors.astype(np.float64), 2)]
    assert METRIC.compute(embeddings=rows).details["pairwise_cosine"] == pytest.approx(np.mean(pairs))


def test_falls_as_frames_drift_apart() -> None:
    generator = np.random.default_rng(1)
    subject, drift = generator.normal(size=64), generator.normal(size=(20, 64))
    scores = [METRIC.compute(embeddings=unit_rows(subject + g * drift)).value for g in (0.0, 0.3, 1.0, 5.0)]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("frames", [0, 1])
def test_needs_two_frames(frames: int) -> None:
    with pytest.raises(NotApplicable, match=f"the clip has {frames}"):
        METRIC.compute(embeddings=unit_rows(np.ones((frames, 4))))


@settings(deadline=None)
@given(st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_stays_in_range(frames: int, seed: int) -> None:
    found = METRIC.compute(embeddings=unit_rows(np.random.default_rng(seed).normal(size=(frames, 8))))
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
