"""Resemblyzer: one vector for the voice of a clip.

Three LSTM layers trained with the loss of Wan et al., "Generalized End-to-End Loss for Speaker Verification", ICASSP
2018: the larger the cosine of two clips, the more alike their voices. Only speech goes in. The package finds it with
WebRTC's detector; here the segments of `speech_activity` are joined, and from there on the arithmetic is the package's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import SpeakerEmbedding, SpeechActivity
from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE, samples_of, sound_need, zero_padded
from evaluator.media.types import F32
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Need

FILE = "resemblyzer.onnx"
BATCH = 8

FFT = 400  # samples, 25 ms; the Hann window fills it
HOP = 160  # samples, 10 ms
MELS = 40
TARGET_DBFS = -30.0

PARTIAL = 160  # frames, 1.6 s
PARTIAL_HOP = 77  # frames: 1.3 partials per second, round(100 / 1.3)
LEAST_COVERAGE = 0.75  # a last partial with less real sound is left out
LEAST_SPEECH = PARTIAL * HOP  # samples: one whole partial


class Resemblyzer(Expert):
    """capability `speaker_embedding`. Less than 1.6 s of speech is not applicable: no partial would be whole."""

    id = "resemblyzer"
    capability = "speaker_embedding"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want), "speech": ExpertNeed("speech_activity", roles=want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeakerEmbedding:
        speech = speech_only(louder(samples_of(inputs["audio"], "Resemblyzer")), inputs["speech"])
        if len(speech) < LEAST_SPEECH:
            found, wanted = len(speech) / RATE, LEAST_SPEECH / RATE
            message = f"A voice needs {wanted:.1f} s of speech to be known by; this clip has {found:.2f} s."
            raise NotApplicable("not_applicable", message)
        session = self.sessions.session(self.id, FILE)
        vectors = run_padded(session, "mels", partials(speech), BATCH)["embedding"]  # [P, 256], each of length 1
        mean = vectors.mean(axis=0)
        return SpeakerEmbedding(mean / np.linalg.norm(mean), seconds=len(speech) / RATE)


def louder(samples: F32) -> F32:
    """The clip at an RMS of TARGET_DBFS if it is quieter, and unchanged otherwise (also if it is digital silence)."""
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    target = 10.0 ** (TARGET_DBFS / 20.0)
    return samples * np.float32(target / rms) if 0.0 < rms < target else samples


def speech_only(samples: F32, activity: SpeechActivity) -> F32:
    """The speech segments, joined."""
    edges = [(round(start * RATE), round(end * RATE)) for start, end in activity.segments()]
    return np.concatenate([samples[:0], *(samples[start:end] for start, end in edges)])


def partial_starts(samples: int) -> list[int]:
    """First frames of the partials. The last may reach beyond the end, unless too little of it would be sound."""
    frames = samples // HOP + 1
    starts = list(range(0, max(1, frames - PARTIAL + PARTIAL_HOP + 1), PARTIAL_HOP))
    coverage = (samples - starts[-1] * HOP) / (PARTIAL * HOP)
    return starts[:-1] if coverage < LEAST_COVERAGE and len(starts) > 1 else starts


def partials(samples: F32) -> F32:
    """Mel power spectra (no logarithm) of the partials: [P, 160, 40]."""
    starts = partial_starts(len(samples))
    whole = zero_padded(samples, (starts[-1] + PARTIAL) * HOP)
    bank = mel_bank(RATE, FFT, MELS, 0.0, RATE / 2, "slaney", unit_area=True)
    mel = mel_spectrogram(np.pad(whole, FFT // 2), hann(FFT, FFT), HOP, bank, power=2).astype(np.float32)
    return np.stack([mel[start : start + PARTIAL] for start in starts])


EXPERT = Resemblyzer
