"""Silero VAD: how likely speech is, every 32 ms.

A recurrent network: each chunk of 512 samples is run with the 64 samples before it and the state that the chunk before
it left, so the chunks of a clip cannot be a batch. State is local to one call. Model: Silero Team, "Silero VAD", 2024.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.features import SpeechActivity
from evaluator.experts.waveform import RATE, samples_of, sound_need, windows
from evaluator.media.types import F32
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Need

FILE = "silero_vad.onnx"
CHUNK = 512  # samples, 32 ms
CONTEXT = 64  # samples of the previous chunk that the network sees again
STATE = (2, 1, 128)  # layers, batch, units


class SileroVad(Expert):
    """capability `speech_activity`. A last chunk that is not full is completed with zeros."""

    id = "silero_vad"
    capability = "speech_activity"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeechActivity:
        samples = samples_of(inputs["audio"], "Silero VAD")
        probability = _probabilities(self.sessions.session(self.id, FILE), samples)
        return SpeechActivity(probability, step=CHUNK / RATE, duration=len(samples) / RATE)


def _probabilities(session: Session, samples: F32) -> F32:
    """Speech probability of each chunk [K]; silence is put before the first."""
    led = np.pad(samples, (CONTEXT, 0))
    rate, state = np.array(RATE, np.int64), np.zeros(STATE, np.float32)
    found = []
    for chunk in windows(led, range(0, len(samples), CHUNK), CONTEXT + CHUNK):
        step = session.run({"input": chunk, "state": state, "sr": rate})
        found.append(step["output"].item())
        state = step["stateN"]
    return np.array(found, np.float32)


EXPERT = SileroVad
