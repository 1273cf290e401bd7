"""TS with the speakers of an output told apart: which pair counts, in which profile, and two real people in turn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeakerEmbedding, SpeechActivity, VoicesApart
from evaluator.experts.resemblyzer import Resemblyzer
from evaluator.experts.silero_vad import SileroVad
from evaluator.experts.voices_apart import VoicesApartExpert
from evaluator.media.types import Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed
from evaluator.suites.multiref_compass import SUITE, ts
from tests.experts.sounds import clip_sound
from tests.suites.multiref_compass.cases import case, view
from tests.suites.multiref_compass.test_speech import HUSH, SPEAKING, TALK, VOICES, embedded

DIARISED = {metric.id: metric for metric in SUITE.metrics_of(SPEAKING, "diarised")}["ts"]
DIALOGUE = VoicesApart(
    np.array([[1, 0], [0.6, 0.8], [0, 1]], np.float32), (((0.0, 2.0), (4.0, 5.0)), ((2.0, 4.0),), ((5.0, 5.5),))
)


def test_told_apart_the_nearest_speaker_counts_and_a_snippet_is_nobody() -> None:
    given: dict[str, Any] = {"voice_1": embedded(4, 3), "speech_1": TALK, "voice_2": embedded(0, 1), "speech_2": TALK}
    found = DIARISED.compute(case=SPEAKING, output=DIALOGUE, **given)
    assert found.value == pytest.approx(0.6 * 0.8 + 0.8 * 0.6)  # Mia with the second; the third has half a second
    assert (found.details["nearest"], found.details["speaker"]) == ("Mia", 2)
    assert set(found.details["voices"]["Tom"]) == {"speaker 1", "speaker 2"}
    for absent in (None, VoicesApart(DIALOGUE.vectors[2:], DIALOGUE.turns[2:])):
        with pytest.raises(NotApplicable, match="no speaker is heard"):
            DIARISED.compute(case=SPEAKING, output=absent, **given)
    with pytest.raises(NotApplicable, match="reference:2"):
        DIARISED.compute(case=SPEAKING, output=DIALOGUE, **{**given, "speech_2": HUSH})


def test_speakers_are_told_apart_in_one_profile_only_and_always_by_a_stand_in() -> None:
    assert DIARISED.needs_for(SPEAKING)["output"] == ExpertNeed("voices_apart")
    assert dict(DIARISED.stands_in_for) == {"speaker_embedding": "ECAPA-TDNN"}
    for profile in ("paper", "compat"):
        plain = {metric.id: metric for metric in SUITE.metrics_of(SPEAKING, profile)}["ts"]
        assert plain.needs_for(SPEAKING)["output"] == ExpertNeed("speaker_verification")


def test_in_a_dialogue_the_right_voice_is_found_again_only_when_told_apart(models: SessionSource, shared: Path) -> None:
    clips = [
        clip_sound(shared / "data" / "clips" / name) for name in ("talking1.mp4", "lowres_dark.mp4", "talking2.mp4")
    ]
    right, other, stranger = clips
    reference = replace(right, samples=right.samples[: 4 * 16_000])
    pieces = [right.samples[5 * 16_000 :], np.zeros(8_000, np.int16), other.samples[4 * 16_000 :]]
    dialogue = replace(right, samples=np.concatenate(pieces))
    one = case(board="B4", references=(view("mia"), VOICES[0]), facts={"speech": "dialogue"})

    def voice(audio: Audio) -> tuple[SpeechActivity, SpeakerEmbedding]:
        activity = SileroVad(models).run(ExpertNeed("speech_activity"), {"audio": audio})
        return activity, Resemblyzer(models).run(ExpertNeed("speaker_embedding"), {"audio": audio, "speech": activity})

    spoken, mixed = voice(dialogue)
    turns = VoicesApartExpert(models).run(ExpertNeed("voices_apart"), {"audio": dialogue, "speech": spoken})
    values = {}
    for name, audio in (("right", reference), ("stranger", stranger)):
        activity, embedding = voice(audio)
        heard = {"voice_1": embedding, "speech_1": activity}
        whole = ts.compute(case=one, output=mixed, spoken=spoken, **heard).value
        values[name] = whole, DIARISED.compute(case=one, output=turns, **heard).value
    assert values["right"][1] > values["right"][0] + 0.03
    assert values["right"][1] > values["stranger"][1] + 0.15
