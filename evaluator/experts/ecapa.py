"""ECAPA-TDNN (Desplanques et al., Interspeech 2020; SpeechBrain's VoxCeleb model): one vector for a voice.

A reference model: the user mounts `ecapa.onnx`. Contract: `wave` [1, samples] float32 at 16 kHz in -1..1 to `embedding`
[1, 192]; filter bank and normalisation are part of the file. Only speech goes in: the segments of `speech_activity`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import SpeakerEmbedding
from evaluator.experts.pixels import unit_rows
from evaluator.experts.resemblyzer import speech_only
from evaluator.experts.waveform import RATE, samples_of, sound_need
from evaluator.schema import ExpertNeed, Need

LEAST = 1.0
"""Seconds of speech (MultiRef-Compass 3.8)."""


class Ecapa(Expert):
    """capability `speaker_verification`. Less than a second of speech is filtered."""

    id = "ecapa"
    capability = "speaker_verification"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want), "speech": ExpertNeed("speech_activity", roles=want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeakerEmbedding:
        speech = speech_only(samples_of(inputs["audio"], "ECAPA-TDNN"), inputs["speech"])
        if len(speech) < LEAST * RATE:
            raise NotApplicable("filtered", f"{len(speech) / RATE:.2f} s of speech; a voice needs {LEAST:.1f} s")
        found = self.sessions.session(self.id, "ecapa.onnx").run({"wave": speech[None]})["embedding"]
        return SpeakerEmbedding(unit_rows(found)[0], seconds=len(speech) / RATE)


EXPERT = Ecapa
