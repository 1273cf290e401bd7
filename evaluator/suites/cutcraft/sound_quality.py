"""F2 of CutCraft: quality of the sound by signal heuristics (spec 4.8). The reference calls it "dnsmos"; it is not.

Range of levels, richness of the spectrum, density of onsets, bandwidth, clipping, silence. Knows no model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.spectral import decibels, hann, magnitude_blocks, mel_bank
from evaluator.media.types import F32, F64
from evaluator.metrics.arithmetic import clip01
from evaluator.suites.cutcraft.onsets import BANDS, FFT, HOP, RATE, onset_times

SHORTEST = 0.3  # seconds
SILENT = 10.0 ** (-50.0 / 20.0)
CLIPPED = 0.99
FAINTEST = 1e-10  # mean square below which a frame has no level: librosa's amplitude_to_db


@dataclass(frozen=True, slots=True)
class SoundFacts:
    """What the score is made of."""

    snr: float  # dB between the 90th and the 10th percentile of frame levels
    dynamics: float  # dB between the 95th and the 5th
    richness: float  # 0..1, normalised entropy of the mel spectrum
    onsets: float  # per second
    bandwidth: float  # Hz
    clipped: float  # share of samples
    silent: float  # share of frames


def sound_facts(samples: F32 | F64, rate: int = RATE) -> SoundFacts:
    """Facts of mono samples in [-1, 1]. Raises NotApplicable below 0.3 s."""
    if len(samples) < SHORTEST * rate:
        raise NotApplicable("not_applicable", f"Sound quality needs {SHORTEST} s of sound.")
    padded = np.pad(samples.astype(np.float64), FFT // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP]
    level = np.sqrt(np.square(frames).mean(axis=1))
    loudness = decibels(np.square(level), FAINTEST)  # nothing is more than 80 dB below the loudest frame
    low, quiet, loud, high = np.percentile(loudness, (5, 10, 90, 95))
    spectrum = np.concatenate(list(magnitude_blocks(padded, hann(FFT, FFT), HOP)))
    return SoundFacts(
        snr=max(0.0, float(loud - quiet)),
        dynamics=float(high - low),
        richness=_richness(spectrum, rate),
        onsets=len(onset_times(samples, rate)) / (len(samples) / rate),
        bandwidth=_bandwidth(spectrum, rate),
        clipped=float(np.mean(np.abs(samples) > CLIPPED)),
        silent=float(np.mean(level < SILENT)),
    )


def sound_score(facts: SoundFacts) -> float:
    """The weighted sum of spec 4.8, 0..1."""
    return clip01(
        0.25 * min(facts.snr / 35.0, 1.0)
        + 0.15 * min(facts.dynamics / 30.0, 1.0)
        + 0.25 * facts.richness
        + 0.15 * _onset_score(facts.onsets)
        + 0.20 * min(facts.bandwidth / 8000.0, 1.0)
        - min(20.0 * facts.clipped, 0.5)
        - max(0.0, facts.silent - 0.5)
    )


def _onset_score(per_second: float) -> float:
    if per_second < 0.5:
        return per_second
    if per_second <= 10.0:
        return 0.5 + 0.5 * min((per_second - 0.5) / 5.0, 1.0)
    return max(0.5, 1.0 - (per_second - 10.0) / 20.0)


def _richness(spectrum: F64, rate: int) -> float:
    mel = np.square(spectrum) @ mel_bank(rate, FFT, BANDS, 0.0, rate / 2, "slaney", unit_area=True).T
    share = mel / (mel.sum(axis=1, keepdims=True) + 1e-10)
    return float((-(share * np.log2(share + 1e-10)).sum(axis=1) / np.log2(BANDS)).mean())


def _bandwidth(spectrum: F64, rate: int) -> float:
    hertz = np.fft.rfftfreq(FFT, 1.0 / rate)
    share = spectrum / (spectrum.sum(axis=1, keepdims=True) + 1e-10)
    centre = share @ hertz
    return float(np.sqrt((share * np.square(hertz - centre[:, None])).sum(axis=1)).mean())
