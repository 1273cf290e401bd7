"""How loud samples are: root mean square in int16 units, decibels, and the one rule for silence.

Physical level only; perceived loudness is the metric `loudness`.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64, I16, I64, Audio

FULL_SCALE = 32_768.0
"""int16 units at 0 dBFS."""

SILENCE_RMS = 1.0
"""int16 units, -90.3 dBFS: AVE-Compass 3.2 calls a track silent below this."""


def rms(samples: I16) -> float:
    """Root mean square of [T] samples in int16 units; 0.0 for no samples."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0


def is_silent(audio: Audio) -> bool:
    """True if the clip has no audio stream, no sample, or an RMS below SILENCE_RMS (AVE-Compass 3.2, our default)."""
    return not audio.present or rms(audio.samples) < SILENCE_RMS


def decibels(level: float) -> float:
    """A positive level in int16 units as dB relative to full scale (a full-scale square wave is 0)."""
    return float(20.0 * np.log10(level / FULL_SCALE))


def window_rms(samples: I16 | I64, start: I64, end: I64) -> F64:
    """RMS in int16 units of the windows [start, end) of sample positions, each at least one sample long: [K].

    Squares are summed as integers, so a window after a loud passage is as exact as one before it.
    """
    energy = np.concatenate([[0], np.cumsum(np.square(samples, dtype=np.int64))])
    levels: F64 = np.sqrt((energy[end] - energy[start]) / (end - start))
    return levels
