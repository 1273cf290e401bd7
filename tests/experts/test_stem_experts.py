"""Experts on stems: half seconds for the tagger, the voices for the recogniser, both at 16 kHz."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evaluator.experts import stem_tags, vocals_transcript
from evaluator.experts.features import AudioTags, SoundStems, StemFacts, Transcript
from evaluator.experts.htdemucs import STEMS
from evaluator.media.types import Audio
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSource


def stems(seconds: float, **hertz: float) -> SoundStems:
    """A tone in each stem that is named, RMS 0.1."""
    time = np.arange(round(seconds * 44_100)) / 44_100
    mono = {name: np.zeros(len(time), np.float32) for name in STEMS}
    mono |= {name: (0.1414 * np.sin(2 * np.pi * tone * time)).astype(np.float32) for name, tone in hertz.items()}
    return SoundStems(mono, {name: StemFacts(0.0, 0.0, 0.0) for name in STEMS}, 44_100, start=0.5)


def heard(expert: Any, attribute: str, given: SoundStems, answer: Any) -> tuple[Any, list[Audio]]:
    """What an expert makes of stems when the model in it hears only, and what that heard."""
    sounds: list[Audio] = []

    class Listener:
        def run(self, want: ExpertNeed, inputs: dict[str, Audio]) -> Any:
            sounds.append(inputs["audio"])
            return answer(inputs["audio"])

    made = expert(FakeSource({}))
    setattr(made, attribute, Listener())
    return made.run(ExpertNeed(made.capability), {"stems": given}), sounds


def level(audio: Audio) -> AudioTags:
    return AudioTags(np.array([[np.sqrt(np.mean(audio.float32**2))]], np.float32), ("loud",), 0.48)


@pytest.mark.parametrize(("seconds", "segments"), [(0.1, 1), (0.5, 1), (0.7, 1), (0.75, 2), (2.0, 4)])
def test_segments_follow_each_other_and_a_short_tail_is_left_out(seconds: float, segments: int) -> None:
    found, sounds = heard(stem_tags.EXPERT, "_tagger", stems(seconds, bass=440.0), level)
    assert {name: len(tags.probability) for name, tags in found.tags.items()} == dict.fromkeys(
        ("drums", "bass", "other"), segments
    )
    assert all(tags.step == 0.5 for tags in found.tags.values())
    assert {one.rate for one in sounds} == {16_000}
    assert max(len(one.samples) for one in sounds) <= 8_000


def test_every_stem_is_heard_by_itself_at_its_own_level() -> None:
    found, _ = heard(stem_tags.EXPERT, "_tagger", stems(2.0, bass=440.0), level)
    assert found.tags["bass"].probability[:, 0] == pytest.approx(0.1, rel=0.02)
    assert not found.tags["drums"].probability.any()


def test_the_voices_are_transcribed_and_nothing_else() -> None:
    words = Transcript("en", 1.0, (), 2.0)
    found, (sound,) = heard(
        vocals_transcript.EXPERT, "_listener", stems(2.0, vocals=1000.0, bass=50.0), lambda _: words
    )
    assert found is words
    assert (sound.rate, len(sound.samples), sound.start) == (16_000, 32_000, 0.5)
    assert np.abs(np.fft.rfft(sound.float32)).argmax() == 2000  # half-hertz bins


def test_a_stem_beyond_full_scale_is_clipped_and_does_not_wrap() -> None:
    loud = stems(0.5, other=100.0)
    loud.mono["other"][:] *= 20
    samples = stem_tags.resampled(loud, "other").samples
    assert (samples.min(), samples.max()) == (-32768, 32767)


def test_records_say_what_they_stand_in_for() -> None:
    assert (stem_tags.EXPERT.stands_in_for, stem_tags.EXPERT.weights) == ("PANNs CNN14", ("yamnet",))
    assert (vocals_transcript.EXPERT.stands_in_for, vocals_transcript.EXPERT.weights) == (
        "Whisper small",
        ("whisper_base",),
    )
