"""The reference's ambience rule for D3 (CutCraft spec 8.1): four blocks of 0.8 s around a cut, compared by spectrum.

Blocks A and B lie before the cut, C and D after it. Where the spectrum turns says which way the sound crosses the cut.
Tuned to offsets of 0.8 s (D-18): the profile `compat` uses it, `sound_bridge` is what we measure with.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.media.types import F32, F64, Audio
from evaluator.schema import AudioNeed, AudioView
from evaluator.suites.cutcraft.labels import Relation

RATE = 22_050
NEEDS = {"sound": AudioNeed(AudioView(RATE))}

FFT, HOP, BANDS = 1024, 256, 48
SMALLEST = 1e-12
BLOCK = 0.8  # seconds
LEAST_FRAMES = 3
FLAT = 0.01  # distance below which nothing turns
DOMINANT, FULL = 1.5, 0.85  # a straight cut's distance over the others', and over that of the outer blocks


@dataclass(frozen=True, slots=True)
class Ambience:
    """Distances (1 - cosine) between blocks and what they say; `relation` is None where the rule is unavailable."""

    relation: Relation | None
    dominance: float | None
    full: float | None


def ambience(sound: Audio, cut: float) -> Ambience:
    """The rule at a cut, in seconds of the sound's own clock (its first sample is 0)."""
    shape = spectral_shape(sound.float32, sound.rate)
    time = np.arange(len(shape)) * HOP / sound.rate
    edges = [cut + k * BLOCK for k in (-2, -1, 0, 1, 2)]
    blocks = [_mean_shape(shape[(time >= low) & (time < high)]) for low, high in pairwise(edges)]
    if any(block is None for block in blocks):
        return Ambience(None, None, None)
    a, b, c, d = (block for block in blocks if block is not None)
    ab, bc, cd, ad, bd, ca = (_distance(x, y) for x, y in ((a, b), (b, c), (c, d), (a, d), (b, d), (c, a)))
    if ab is None or bc is None or cd is None or ad is None or bd is None or ca is None or max(ad, bc) < FLAT:
        return Ambience(None, None, None)
    dominance, full = bc / max(ab, cd, SMALLEST), bc / max(ad, SMALLEST)
    if dominance >= DOMINANT and full >= FULL:
        return Ambience(Relation.STRAIGHT, dominance, full)
    early = (ab - bd) / max(ab + bd, SMALLEST)
    late = (cd - ca) / max(cd + ca, SMALLEST)
    return Ambience(Relation.J_CUT if early >= late else Relation.L_CUT, dominance, full)


def spectral_shape(samples: F32 | F64, rate: int) -> F64:
    """Decibels of mel bands less their mean in the frame [T, BANDS]; frame k is centred on sample k * HOP."""
    bank = mel_bank(rate, FFT, BANDS, 0.0, rate / 2, "slaney", unit_area=True)
    power = mel_spectrogram(np.pad(samples.astype(np.float64), FFT // 2), hann(FFT, FFT), HOP, bank, power=2)
    level = 10.0 * np.log10(np.maximum(power, SMALLEST))
    return np.asarray(level - level.mean(axis=1, keepdims=True))


def _mean_shape(shape: F64) -> F64 | None:
    return np.asarray(shape.mean(axis=0)) if len(shape) >= LEAST_FRAMES else None


def _distance(a: F64, b: F64) -> float | None:
    lengths = float(np.linalg.norm(a)), float(np.linalg.norm(b))
    return 1.0 - float(a @ b) / (lengths[0] * lengths[1]) if min(lengths) >= 1e-6 else None
