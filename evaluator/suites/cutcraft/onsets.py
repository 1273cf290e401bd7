"""When sounds begin: onset strength and its peaks, in the geometry of librosa's defaults, and what comes of it.

Mel power in decibels, positive differences of neighbouring frames, mean over bands; peaks by the rule of Boeck, Krebs
and Schedl (2012). Serves F1 (audio-visual sync, spec 7), the onset density of F2 (spec 4.8) and the onset signal of D3
(spec 8.1). Numpy only.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.spectral import decibels, hann, mel_bank, mel_spectrogram
from evaluator.media.types import F32, F64
from evaluator.schema import AudioNeed, AudioView

RATE = 22_050
NEEDS = {"sound": AudioNeed(AudioView(RATE))}

FFT, HOP, BANDS = 2048, 512, 128
SMALLEST = 1e-10
DELTA = 0.07  # of the strength scaled to 0..1

PRE_MAX, POST_MAX = 0.03, 0.0  # seconds; windows of the peak rule
PRE_MEAN, POST_MEAN = 0.10, 0.10
WAIT = 0.03


def onset_strength(samples: F32 | F64, rate: int = RATE) -> F64:
    """How much louder the spectrum has become [T], one value per HOP samples, centred; 0 in the first frames."""
    bank = mel_bank(rate, FFT, BANDS, 0.0, rate / 2, "slaney", unit_area=True)
    power = mel_spectrogram(np.pad(samples.astype(np.float64), FFT // 2), hann(FFT, FFT), HOP, bank, power=2)
    if len(power) < 2:
        return np.zeros(len(power))
    rise = np.maximum(np.diff(decibels(power, SMALLEST), axis=0), 0.0).mean(axis=1)
    delay = 1 + FFT // (2 * HOP)  # a difference looks one frame back, and centring is undone as librosa does
    return np.asarray(np.concatenate([np.zeros(delay), rise])[: len(power)])


def onset_frames(strength: F64, rate: int = RATE) -> list[int]:
    """Frames of onsets. None in a strength that does not vary."""
    span = float(np.ptp(strength)) if len(strength) else 0.0
    if span == 0.0:
        return []
    scaled = (strength - strength.min()) / span
    before, after, mean_before, mean_after, wait = (
        int(seconds * rate / HOP) for seconds in (PRE_MAX, POST_MAX, PRE_MEAN, POST_MEAN, WAIT)
    )
    found: list[int] = []
    for k, value in enumerate(scaled):
        largest = scaled[max(0, k - before) : k + after + 1].max()
        mean = scaled[max(0, k - mean_before) : k + mean_after + 1].mean()
        if value == largest and value >= mean + DELTA and (not found or k - found[-1] > wait):
            found.append(k)
    return found


def onset_times(samples: F32 | F64, rate: int = RATE) -> F64:
    """Seconds of the onsets, from the first sample."""
    return np.array(onset_frames(onset_strength(samples, rate), rate)) * HOP / rate


def sync_score(onsets: F64, peaks: F64) -> float | None:
    """F1 of spec 7: 1 less the mean distance in seconds from each motion peak to the nearest onset, not below 0.

    None if there are no peaks or no onsets (the reference says 0.5 then, D-21).
    """
    if not len(onsets) or not len(peaks):
        return None
    return max(0.0, 1.0 - float(np.abs(peaks[:, None] - onsets).min(axis=1).mean()))


def onset_near(samples: F32 | F64, cut: float, rate: int = RATE, within: float = 0.45, least: float = 1.8) -> bool:
    """D3's onset signal: does the strength around a cut stand out of itself?"""
    part = samples[max(0, round((cut - within) * rate)) : max(0, round((cut + within) * rate))]
    strength = onset_strength(part, rate)
    if not len(strength):
        return False
    return bool(strength.max() / (strength.mean() + strength.std() + 1e-12) >= least)
