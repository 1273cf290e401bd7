"""Two signals of one clip on one clock: a per-frame measurement and the level of the sound, by presentation time.

The clock ticks 25 times a second whatever the frame rate, so that lags mean the same on every clip, variable frame rate
included. Both streams keep their own start time. Where a signal is unknown the value is NaN, never a guess.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64, Audio
from evaluator.metrics.levels import FULL_SCALE, window_rms

TICKS_PER_SECOND = 25
"""The clock of SyncNet (AVE-Compass 4.3), 40 ms a tick."""

MAX_GAP = 0.125
"""Seconds between two measurements that may be bridged: below 8 frames per second a mouth cannot be followed."""

LEVEL_FLOOR_DB = -60.0
"""dBFS. Anything quieter is a pause; without a floor, digital silence at minus infinity would drown all else."""


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


def sample_level(audio: Audio, clock: F64) -> F64:
    """RMS level in dBFS of the 40 ms around each tick [N], at least LEVEL_FLOOR_DB; NaN where no sound was recorded."""
    half = 0.5 / TICKS_PER_SECOND
    start = np.round((clock - half - audio.start) * audio.rate).astype(np.int64)
    end = np.round((clock + half - audio.start) * audio.rate).astype(np.int64)
    heard = (start >= 0) & (end <= len(audio.samples))
    floor = FULL_SCALE * 10.0 ** (LEVEL_FLOOR_DB / 20.0)
    level = np.full(len(clock), np.nan)
    loud = np.maximum(window_rms(audio.samples, start[heard], end[heard]), floor)
    level[heard] = 20.0 * np.log10(loud / FULL_SCALE)
    return level
