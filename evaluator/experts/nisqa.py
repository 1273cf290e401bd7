"""NISQA v2.0: speech quality and four dimensions of it, without a reference.

Mittag, Naderi, Chehadi and Möller, "NISQA", Interspeech 2021; used by AVE-Compass (speech_quality) on the 16 kHz mix.
The front end is in numpy; the network is a file that the user mounts. Trained on transmitted speech of 6 to 12 s.

Option `rate`: Hz of the sound to rate, default 16,000. NISQA's windows are stated in seconds, so another rate means
other bands and not another speed; at 48,000 the whole band counts (AVE-Compass 4.2, profile strict).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import SpeechQuality
from evaluator.experts.spectral import decibels, hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE
from evaluator.media.types import F32, Audio
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Need

FILE = "nisqa.onnx"
AXES = ("mos", "noisiness", "discontinuity", "coloration", "loudness")

FFT = 4096
WINDOW_SECONDS = 0.02
HOP_SECONDS = 0.01
MELS = 48
HIGH_HZ = 20_000.0  # above half the rate of 16 kHz: the uppermost bands are always empty
SMALLEST = 1e-4  # magnitude, -80 dB

WIDTH = 15  # columns of a segment, 0.15 s
SEGMENT_HOP = 4  # columns
MOST_SEGMENTS = 1300  # what the network accepts, 52 s


class Nisqa(Expert):
    """capability `speech_quality`. A clip below 0.14 s or above 52 s is not applicable (an error in the reference)."""

    id = "nisqa"
    capability = "speech_quality"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        rate = dict(want.options).get("rate", RATE)
        return {"audio": AudioNeed(AudioView(int(rate)), role=want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeechQuality:
        audio: Audio = inputs["audio"]
        samples, hop = audio.float32, int(HOP_SECONDS * audio.rate)
        _require_length(len(samples), hop, audio.rate)
        cut = segments(mel_decibels(samples, audio.rate))  # [S, 48, 15]
        padded = np.zeros((1, MOST_SEGMENTS, 1, MELS, WIDTH), np.float32)
        padded[0, : len(cut), 0] = cut
        count = np.array([len(cut)], np.int64)
        found = self.sessions.session(self.id, FILE).run({"segments": padded, "count": count})
        mos, *rest = found["scores"][0].tolist()
        return SpeechQuality(mos, dict(zip(AXES[1:], rest, strict=True)), audio.rate)


def _require_length(samples: int, hop: int, rate: int) -> None:
    """Raise NotApplicable if the sound makes no segment, or more of them than the network accepts."""
    count = segment_count(samples // hop + 1)
    if count < 1:
        wanted, found = (WIDTH - 1) * hop / rate, samples / rate
        raise NotApplicable("not_applicable", f"NISQA needs {wanted:.2f} s of sound; this clip has {found:.2f} s.")
    if count > MOST_SEGMENTS:
        raise NotApplicable(
            "not_applicable",
            f"NISQA rates at most {MOST_SEGMENTS} segments, about 52 s of sound; "
            f"this clip has {count} segments in {samples / rate:.1f} s.",
        )


def segment_count(columns: int) -> int:
    """Segments of WIDTH columns, SEGMENT_HOP apart."""
    return -(-(columns - WIDTH + 1) // SEGMENT_HOP)


def mel_decibels(samples: F32, rate: int = RATE) -> F32:
    """Mel bands of the magnitude spectrum in dB, at most 80 dB below the loudest: [columns, 48]."""
    padded = np.pad(samples, FFT // 2, mode="reflect")
    bank = mel_bank(rate, FFT, MELS, 0.0, HIGH_HZ, "slaney", unit_area=True)
    window, hop = hann(int(WINDOW_SECONDS * rate), FFT), int(HOP_SECONDS * rate)
    magnitude = mel_spectrogram(padded, window, hop, bank, power=1)
    return decibels(magnitude**2, SMALLEST**2).astype(np.float32)


def segments(columns: F32) -> F32:
    """Overlapping segments of a spectrogram [columns, 48]: [S, 48, 15]."""
    return np.lib.stride_tricks.sliding_window_view(columns, WIDTH, axis=0)[::SEGMENT_HOP]


EXPERT = Nisqa
