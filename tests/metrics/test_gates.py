"""Gates let evidence through and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.features import AudioTags
from evaluator.experts.silero_vad import EXPERT as VOICE
from evaluator.experts.yamnet import EXPERT as TAGGER
from evaluator.media.decode import decode
from evaluator.media.probe import probe
from evaluator.media.types import Audio
from evaluator.metrics.gates import class_probability, require_mouth, require_sound, require_speech
from evaluator.runtime.session import SessionSource
from evaluator.schema import AudioView, ExpertNeed
from tests.metrics.build import activity, faces, noise, seconds, silent, sound, tags, tone


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


def listen(models: SessionSource, audio: Audio) -> dict[str, float]:
    """The gate with the two real witnesses."""
    heard = VOICE(models).run(ExpertNeed("speech_activity"), {"audio": audio})
    tagged = TAGGER(models).run(ExpertNeed("audio_tags"), {"audio": audio})
    return require_speech(heard, tagged)


def chord(rhythm: float) -> Audio:
    t = seconds(4.0)
    notes = sum(np.sin(2 * np.pi * hertz * t) for hertz in (261.6, 329.6, 392.0))
    return sound(0.1 * notes * (np.sin(2 * np.pi * rhythm * t) > 0))


@pytest.mark.parametrize(
    "audio",
    [tone(4.0), noise(4.0), chord(2.0), chord(4.0), silent(4.0)],
    ids=["tone", "noise", "2 Hz", "4 Hz", "silence"],
)
def test_tones_music_and_noise_do_not_pass(models: SessionSource, audio: Audio) -> None:
    with pytest.raises(NotApplicable):
        listen(models, audio)


@pytest.mark.parametrize("clip", ["talking1.mp4", "playground_ovi.mp4"])
def test_recorded_speech_passes(models: SessionSource, shared: Path, clip: str) -> None:
    path, view = shared / "data/clips" / clip, AudioView()
    audio, _ = decode(path, probe(path), [], [view])
    assert listen(models, audio[view])["speech_seconds"] > 2.0
