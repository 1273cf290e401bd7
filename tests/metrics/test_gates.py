"""Gates let evidence through and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.features import AudioTags
from evaluator.metrics.gates import class_probability, require_mouth, require_sound, require_speech
from tests.metrics.build import activity, faces, silent, tags, tone


def test_speech_passes_with_what_was_heard() -> None:
    heard = require_speech(activity(3.0), tags((0.2, 0.9)))
    assert heard["speech_seconds"] == pytest.approx(3.0, abs=0.04)
    assert heard["speech_probability"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("seconds", "probability"),
    [(0.3, 0.99), (0.0, 0.99), (5.0, 0.3), (0.0, 0.0)],
    ids=["a click", "voice that nothing detects", "singing or music", "nothing"],
)
def test_both_witnesses_are_needed(seconds: float, probability: float) -> None:
    with pytest.raises(NotApplicable, match="No speech in the output") as refusal:
        require_speech(activity(seconds), tags((0.0, probability)), "output")
    assert refusal.value.reason == "not_applicable"


def test_no_patch_is_no_speech() -> None:
    with pytest.raises(NotApplicable):
        require_speech(activity(3.0), tags(()))


def test_a_tagger_without_the_class_is_an_error() -> None:
    with pytest.raises(ExpertError, match="'Speech'"):
        class_probability(AudioTags(np.ones((1, 1), np.float32), ("Dog",), 0.48), "Speech")


def test_sound_is_needed() -> None:
    require_sound(tone(0.1))
    for nothing in (silent(1.0), silent(1.0, present=False)):
        with pytest.raises(NotApplicable, match="silent"):
            require_sound(nothing)


def test_a_mouth_in_most_frames_is_needed() -> None:
    mouth = np.full(10, 0.1)
    mouth[:5] = np.nan
    assert require_mouth(faces(mouth)) == 0.5
    mouth[5] = np.nan
    with pytest.raises(NotApplicable, match="40% of 10 frames"):
        require_mouth(faces(mouth))
    with pytest.raises(NotApplicable):
        require_mouth(faces(np.zeros(0)))
