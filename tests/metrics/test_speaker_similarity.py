"""Cosine of two voices, behind a gate on either clip."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeakerEmbedding
from evaluator.metrics.base import Outcome
from evaluator.metrics.speaker_similarity import METRIC
from tests.metrics.build import activity, plain, tags


def voice(values: np.ndarray) -> SpeakerEmbedding:
    return SpeakerEmbedding((values / np.linalg.norm(values)).astype(np.float32), 3.0)


def compare(output: SpeakerEmbedding, source: SpeakerEmbedding, *, said: float = 3.0, heard: float = 3.0) -> Outcome:
    return METRIC.compute(
        output=output,
        source=source,
        output_activity=activity(said),
        source_activity=activity(heard),
        output_tags=tags(),
        source_tags=tags(),
    )


def test_the_same_voice() -> None:
    speaker = voice(np.random.default_rng(0).normal(size=256))
    found = compare(speaker, speaker)
    assert (found.value, found.raw) == (pytest.approx(1.0), pytest.approx(1.0))


def test_raw_is_the_cosine() -> None:
    found = compare(voice(np.array([1.0, 0.0])), voice(np.array([0.6, 0.8])))
    assert found.raw == pytest.approx(0.6)
    assert found.value == pytest.approx(0.8)


@pytest.mark.parametrize(("said", "heard", "clip"), [(0.0, 3.0, "output"), (3.0, 0.0, "source")])
def test_both_must_speak(said: float, heard: float, clip: str) -> None:
    speaker = voice(np.ones(4))
    with pytest.raises(NotApplicable, match=f"No speech in the {clip}"):
        compare(speaker, speaker, said=said, heard=heard)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_stays_in_range(seed: int) -> None:
    first, second = np.random.default_rng(seed).normal(size=(2, 16))
    found = compare(voice(first), voice(second))
    assert 0.0 <= found.value <= 1.0
    assert found.value == compare(voice(second), voice(first)).value
    assert plain(dict(found.details))
