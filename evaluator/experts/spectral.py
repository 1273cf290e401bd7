"""Short-time spectra, mel bands and decibels in numpy: the front ends of the sound models.

All sums are in float64 and experts cast their finished features to float32: the order in which a machine adds then
stays far below what a float32 network can see. Spectra are made a block of frames at a time, so a long clip costs the
memory of its features and not of its spectra. Checked in `tests/experts/test_spectral.py` against scipy.

Knows nothing about any model; sizes and constants live with the expert that owns them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluator.media.types import F32, F64

BLOCK = 512
"""Frames per transform: 512 frames of 4096 points are 16 MB."""

MelFormula = Literal["htk", "slaney"]

SLANEY_KNEE_HZ = 1000.0  # linear below, logarithmic above
SLANEY_HZ_PER_MEL = 200.0 / 3.0
SLANEY_KNEE_MEL = SLANEY_KNEE_HZ / SLANEY_HZ_PER_MEL  # 15
SLANEY_LOG_STEP = np.log(6.4) / 27.0  # 27 bands between 1 kHz and 6.4 kHz


def hann(length: int, size: int) -> F64:
    """Periodic Hann window of `length` samples, centred in `size` samples that are zero elsewhere."""
    return centred(0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(length) / length), size)


def hamming(length: int) -> F64:
    """Periodic Hamming window."""
    return np.asarray(0.54 - 0.46 * np.cos(2.0 * np.pi * np.arange(length) / length))


def centred(window: F64, size: int) -> F64:
    """A window in the middle of `size` zeros (the odd sample goes to the right)."""
    left = (size - len(window)) // 2
    return np.pad(window, (left, size - len(window) - left))


def frame_count(samples: int, size: int, hop: int) -> int:
    """Frames of `size` samples that fit whole, `hop` samples apart; 0 if not even one fits."""
    return max(0, (samples - size) // hop + 1)


def magnitude_blocks(samples: F32 | F64, window: F64, hop: int) -> Iterator[F64]:
    """Magnitudes of the one-sided transform, as blocks [at most BLOCK frames, len(window) // 2 + 1].

    Frame k covers samples `k * hop ... k * hop + len(window) - 1`; only frames that fit whole are made. Centred framing
    is the caller's padding.
    """
    count = frame_count(len(samples), len(window), hop)
    for start in range(0, count, BLOCK):
        stop = min(start + BLOCK, count)
        part = np.asarray(samples[start * hop : (stop - 1) * hop + len(window)], np.float64)
        frames = np.lib.stride_tricks.sliding_window_view(part, len(window))[::hop]  # [block, fft]
        yield np.abs(np.fft.rfft(frames * window, axis=1))


def mel_spectrogram(samples: F32 | F64, window: F64, hop: int, bank: F64, power: Literal[1, 2]) -> F64:
    """Mel bands of the magnitude (`power` 1) or power (2) spectrum: [frames, bands]. `bank` is from `mel_bank`."""
    blocks = [magnitude**power @ bank.T for magnitude in magnitude_blocks(samples, window, hop)]
    return np.concatenate(blocks) if blocks else np.zeros((0, len(bank)))


def hertz_to_mel(hertz: npt.ArrayLike, formula: MelFormula) -> F64:
    """Frequencies in mel: HTK's one logarithm, or the linear and logarithmic halves of Slaney's Auditory Toolbox."""
    f = np.asarray(hertz, np.float64)
    if formula == "htk":
        return np.asarray(2595.0 * np.log10(1.0 + f / 700.0))
    above = SLANEY_KNEE_MEL + np.log(np.maximum(f, SLANEY_KNEE_HZ) / SLANEY_KNEE_HZ) / SLANEY_LOG_STEP
    return np.where(f < SLANEY_KNEE_HZ, f / SLANEY_HZ_PER_MEL, above)


def mel_to_hertz(mel: npt.ArrayLike, formula: MelFormula) -> F64:
    """Inverse of `hertz_to_mel`."""
    m = np.asarray(mel, np.float64)
    if formula == "htk":
        return np.asarray(700.0 * (10.0 ** (m / 2595.0) - 1.0))
    above = SLANEY_KNEE_HZ * np.exp(SLANEY_LOG_STEP * (m - SLANEY_KNEE_MEL))
    return np.where(m < SLANEY_KNEE_MEL, m * SLANEY_HZ_PER_MEL, above)


@lru_cache(maxsize=16)
def mel_bank(
    rate: int, fft: int, bands: int, low: float, high: float, formula: MelFormula, unit_area: bool = False
) -> F64:
    """Triangular bands, equally spaced in mel from `low` to `high` Hz: [bands, fft // 2 + 1], read-only.

    Triangles are linear in Hz and reach 1, or enclose the area 1 with `unit_area` (Slaney's normalisation). Bands above
    rate / 2 are all zero, as in librosa.
    """
    lowest, highest = hertz_to_mel([low, high], formula).tolist()
    edges = mel_to_hertz(np.linspace(lowest, highest, bands + 2), formula)  # [bands + 2]
    bins = np.fft.rfftfreq(fft, 1.0 / rate)  # [fft // 2 + 1]
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    bank: F64 = np.maximum(0.0, np.minimum(rising, falling))
    if unit_area:
        bank *= 2.0 / (right - left)
    bank.flags.writeable = False
    return bank


def decibels(power: F64, smallest: float, reference: float = 1.0, span: float = 80.0) -> F64:
    """10 log10(power / reference), both cut at `smallest` first, then cut at `span` dB below the largest value."""
    level: F64 = 10.0 * np.log10(np.maximum(power, smallest)) - 10.0 * np.log10(max(reference, smallest))
    return np.asarray(np.maximum(level, level.max() - span))
