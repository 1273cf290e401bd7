"""DNSMOS: speech signal, background and overall quality (P.835), and overall quality (P.808), without a reference.

Reddy, Gopal and Cutler, "DNSMOS P.835", ICASSP 2022, and "DNSMOS", ICASSP 2021; the non-personalised networks. The
network's raw figures are mapped to the rating scale by the published polynomials.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.features import DnsMos
from evaluator.experts.spectral import decibels, hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE, samples_of, sound_need, windows
from evaluator.media.types import F32
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Need

P835_FILE = "sig_bak_ovr.onnx"
P808_FILE = "model_v8.onnx"
INPUT, OUTPUT = "input_1", "Identity:0"  # of both networks

WINDOW = 144_160  # samples, 9.01 s
HOP = RATE  # samples

# Highest power first; raw figure of the network -> rating.
SIGNAL = (-0.08397278, 1.22083953, 0.0052439)
BACKGROUND = (-0.13166888, 1.60915514, -0.39604546)
OVERALL = (-0.06766283, 1.11546468, 0.04602535)

P808_SAMPLES = WINDOW - 160  # the P.808 network sees 9 s, 900 frames
P808_FFT = 321  # odd: one sample more than 20 ms, as published
P808_HOP = 160
P808_MELS = 120
P808_SMALLEST = 1e-10  # power


class DnsMosExpert(Expert):
    """capability `dnsmos`: means over windows of 9.01 s, one second apart."""

    id = "dnsmos"
    capability = "dnsmos"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> DnsMos:
        samples = looped(samples_of(inputs["audio"], "DNSMOS"))
        p835, p808 = self.sessions.session(self.id, P835_FILE), self.sessions.session(self.id, P808_FILE)
        ratings = [_rate(p835, p808, part) for part in windows(samples, window_starts(len(samples)), WINDOW)]
        sig, bak, ovrl, whole = np.mean(ratings, axis=0)
        return DnsMos(sig=float(sig), bak=float(bak), ovrl=float(ovrl), p808=float(whole))


def looped(samples: F32) -> F32:
    """A clip shorter than a window is doubled until it fills one, as published."""
    while len(samples) < WINDOW:
        samples = np.concatenate([samples, samples])
    return samples


def window_starts(samples: int) -> range:
    """One window per whole second that 9.01 s fit into, counted as published from the whole seconds of the clip.

    The published loop computes a window's end as int((k + 9.01) * 16000), which falls one sample short for some k
    (7 to 23, 119 ...), and then drops that window without a word; here every window counts.
    """
    return range(0, max(1, samples // RATE - 9) * HOP, HOP)


def _rate(p835: Session, p808: Session, window: F32) -> tuple[float, float, float, float]:
    """Signal, background, overall (P.835) and overall (P.808) of one window [1, WINDOW]."""
    raw = p835.run({INPUT: window})[OUTPUT][0].tolist()
    sig, bak, ovrl = (float(np.polyval(curve, x)) for curve, x in zip((SIGNAL, BACKGROUND, OVERALL), raw, strict=True))
    whole = p808.run({INPUT: p808_features(window[0])[None]})[OUTPUT].item()
    return sig, bak, ovrl, whole


def p808_features(window: F32) -> F32:
    """Log-mel power [900, 120], (dB + 40) / 40 relative to the largest value of the window."""
    padded = np.pad(window[:P808_SAMPLES], P808_FFT // 2)
    bank = mel_bank(RATE, P808_FFT, P808_MELS, 0.0, RATE / 2, "slaney", unit_area=True)
    power = mel_spectrogram(padded, hann(P808_FFT, P808_FFT), P808_HOP, bank, power=2)
    return ((decibels(power, P808_SMALLEST, reference=float(power.max())) + 40.0) / 40.0).astype(np.float32)


EXPERT = DnsMosExpert
