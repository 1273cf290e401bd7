"""How alike moments of sound are, and how well moments are explained by other ones: the measure behind `sound_bridge`.

A moment is the power in mel bands at two resolutions, a short window that follows syllables and a long one that tells
pitches apart. A sound is known by its moments (a kernel density), so that pauses and notes count as often as they come;
two sounds at once are known by the sums of their moments, for powers of independent sounds add. Nothing is fitted, and
no moment explains itself or its neighbours. Knows no cut.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.media.types import F32, F64

RATE = 22_050
WINDOWS = (1024, 2048)  # samples: 46 and 93 ms
HOP = 220  # samples, 10 ms
BANDS, LOW_HZ, HIGH_HZ = 32, 60.0, 10_000.0  # of each window
PER_STEP = 2  # frames whose power is averaged
STEP = HOP * PER_STEP / RATE  # seconds, 0.02
QUIET = 1e-7  # band power that is added everywhere: about -84 dBFS of white noise

SHARPNESS = 8.0  # of the kernel, per unit of mean half squared difference of log power
WORST_BAND, WORST_STEP = 4.0, 3.0  # most that a band or a step may cost: a surprise is not evidence for ever
NEIGHBOURS = 8  # steps around a moment that do not explain it: they hold the same note or syllable
SUMMED = 30  # moments of each sound whose sums are looked at
CHUNK = 32


def band_levels(samples: F32 | F64, rate: int) -> F64:
    """Natural logarithm of mel-band power [steps, 2 * BANDS] at STEP; step k covers samples around k * STEP seconds."""
    scales = [_levels(samples.astype(np.float64), rate, window) for window in WINDOWS]
    steps = min(map(len, scales))
    return np.hstack([one[:steps] for one in scales])


def _levels(samples: F64, rate: int, window: int) -> F64:
    bank = mel_bank(rate, window, BANDS, LOW_HZ, HIGH_HZ, "slaney", unit_area=True)
    power = mel_spectrogram(np.pad(samples, window // 2), hann(window, window), HOP, bank, power=2)
    whole = len(power) // PER_STEP * PER_STEP
    return np.asarray(np.log(power[:whole].reshape(-1, PER_STEP, BANDS).mean(axis=1) + QUIET))


def likeness(levels: F64, others: F64) -> F64:
    """Kernel [T, S] in (0, 1] of moments levels [T, bands] and others [S, bands]; 1 for equal ones."""
    found = np.empty((len(levels), len(others)))
    low, right = levels.astype(np.float32), others.astype(np.float32)
    for start in range(0, len(low), CHUNK):
        gap = low[start : start + CHUNK, None] - right
        found[start : start + CHUNK] = np.minimum(0.5 * gap * gap, np.float32(WORST_BAND)).mean(axis=2)
    return np.asarray(np.exp(-SHARPNESS * found))


def cost(mean_likeness: F64) -> F64:
    """What it costs to explain moments that are so alike, on average, to what is known: 0 to WORST_STEP."""
    return np.asarray(-np.log(mean_likeness + np.exp(-SHARPNESS * WORST_STEP)) / SHARPNESS)


def divided(levels: F64) -> tuple[F64, F64]:
    """Cost of the steps before e as one sound, and of those from e on as another [T + 1 each], for every e.

    Every step is explained by those on its own side but its NEIGHBOURS.
    """
    at = np.arange(len(levels))
    far = np.abs(at[:, None] - at) > NEIGHBOURS
    alike, count = (_from_start(one) for one in (np.where(far, likeness(levels, levels), 0.0), far.astype(np.float64)))
    before = at[:, None] < np.arange(len(levels) + 1)  # [T, T + 1]: the step is before e
    first = cost(alike / np.maximum(count, 1.0))
    second = cost((alike[:, -1:] - alike) / np.maximum(count[:, -1:] - count, 1.0))
    return np.where(before, first, 0.0).sum(axis=0), np.where(before, 0.0, second).sum(axis=0)


def summed(levels: F64, first: F64, second: F64) -> F64:
    """Cost [T] of each step of levels as both sounds at once, that of `first` [A, bands] and that of `second`."""
    sums = np.logaddexp(_some(first)[:, None], _some(second)[None]).reshape(-1, levels.shape[1])
    return cost(likeness(levels, sums).mean(axis=1))


def contrast(first: F64, second: F64) -> float:
    """How much worse each sound is explained by the other than by itself, per step; the lesser of both, about 0 if
    they are alike."""
    between = likeness(first, second)
    return min(
        float((cost(across) - _own(one)).mean())
        for one, across in ((first, between.mean(axis=1)), (second, between.mean(axis=0)))
    )


def _own(levels: F64) -> F64:
    at = np.arange(len(levels))
    far = np.abs(at[:, None] - at) > NEIGHBOURS
    return cost(np.where(far, likeness(levels, levels), 0.0).sum(axis=1) / np.maximum(far.sum(axis=1), 1))


def _from_start(table: F64) -> F64:
    """Sums over the first e columns [T, S + 1]."""
    return np.hstack([np.zeros((len(table), 1)), np.cumsum(table, axis=1)])


def _some(levels: F64) -> F64:
    """At most SUMMED moments, evenly spaced in time."""
    return levels[np.unique(np.linspace(0, len(levels) - 1, min(SUMMED, len(levels))).round().astype(np.int64))]
