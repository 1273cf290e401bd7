"""Two signals of one clip on one clock: a per-frame measurement and the level of the voice, by presentation time.

The clock ticks 25 times a second whatever the frame rate, so that lags mean the same on every clip, variable frame rate
included. Both streams keep their own start time. Where a signal is unknown the value is NaN, never a guess.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64, I64, Audio
from evaluator.metrics.levels import window_rms

TICKS_PER_SECOND = 25
"""The clock of SyncNet (AVE-Compass 4.3), 40 ms a tick."""

MAX_GAP = 0.125
"""Seconds between two measurements that may be bridged: below 8 frames per second a mouth cannot be followed."""

VOICE_BAND = (500.0, 4000.0)
"""Hz. The formants that an opening mouth lets through; the pitch below them sounds behind closed lips too."""

LOCAL = 9
"""Ticks, 0.36 s: about one syllable and its neighbours' halves."""


def ticks(start: float, end: float) -> F64:
    """Times in seconds start, start + 0.04, ... up to `end` inclusive: [N]."""
    return start + np.arange(int(np.floor((end - start) * TICKS_PER_SECOND + 1e-6)) + 1) / TICKS_PER_SECOND


def sample_track(time: F64, value: F64, clock: F64) -> F64:
    """A measurement [M] (NaN where it failed) at `time` [M], interpolated linearly at `clock` [N].

    NaN outside the measured span and inside gaps longer than MAX_GAP.
    """
    known = np.isfinite(value)
    time, value = time[known], value[known]
    if len(time) < 2:
        return np.full(len(clock), np.nan)
    right = np.clip(np.searchsorted(time, clock, side="right"), 1, len(time) - 1)
    bridged = time[right] - time[right - 1] <= MAX_GAP
    inside = (clock >= time[0]) & (clock <= time[-1])
    return np.where(bridged & inside, np.interp(clock, time, value), np.nan)


def sample_voice(audio: Audio, clock: F64) -> F64:
    """RMS in int16 units of the voice band over the 40 ms around each tick [N]; NaN where no sound was recorded."""
    half = 0.5 / TICKS_PER_SECOND
    start = np.round((clock - half - audio.start) * audio.rate).astype(np.int64)
    end = np.round((clock + half - audio.start) * audio.rate).astype(np.int64)
    heard = (start >= 0) & (end <= len(audio.samples))
    level = np.full(len(clock), np.nan)
    if heard.any():
        level[heard] = window_rms(voice_band(audio), start[heard], end[heard])
    return level


def voice_band(audio: Audio) -> I64:
    """The samples [T] between 500 and 4000 Hz, without delay, rounded to int16 units."""
    from scipy.signal import butter, sosfiltfilt  # takes half a CPU second to import

    band = butter(2, VOICE_BAND, "bandpass", fs=audio.rate, output="sos")
    return np.round(sosfiltfilt(band, audio.samples.astype(np.float64), padlen=0)).astype(np.int64)


def syllables(x: F64) -> F64:
    """A series [N] less its mean over the LOCAL ticks around each tick; NaN stays NaN and counts in no mean.

    What is left moves at the rate of syllables. Slower change is the pose of the head or the emphasis of a phrase, and
    correlates with anything.
    """
    known = np.isfinite(x)
    total, count = _local_sum(np.where(known, x, 0.0)), _local_sum(known.astype(np.float64))
    local: F64 = np.divide(total, count, out=np.full(len(x), np.nan), where=count > 0.5)
    return x - local


def _local_sum(x: F64) -> F64:
    """Sum over the LOCAL ticks around each tick, fewer at the ends."""
    half = LOCAL // 2
    total: F64 = np.convolve(x, np.ones(LOCAL)).astype(np.float64)
    return total[half : half + len(x)]
