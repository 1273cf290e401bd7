"""Mel-frequency cepstra in the tradition of HTK: the sound that SyncNet hears (AVE-Compass 4.3, step 3).

The published pipeline calls python_speech_features 0.6 with its defaults; this is that arithmetic in float64. Unlike
the mel spectra of `evaluator.experts.spectral`, its triangles begin and end at whole bins and its frames are not
windowed. Knows nothing about SyncNet.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from evaluator.experts.spectral import hertz_to_mel, mel_to_hertz
from evaluator.media.types import F64, I16

RATE = 16_000
FRAME = 400  # samples, 25 ms
STEP = 160  # samples, 10 ms
FFT = 512
BANDS = 26
CEPSTRA = 13
PRE_EMPHASIS = 0.97
LIFTER = 22
EPSILON = np.finfo(np.float64).eps  # in place of a zero before a logarithm


def mfcc(samples: I16) -> F64:
    """Cepstra [1 + ceil((T - 400) / 160), 13] of samples [T] in int16 units at 16 kHz; the last frame may be part zero.

    The first cepstrum is the logarithm of the frame's energy.
    """
    power = _power(_frames(_emphasised(samples)))  # [frames, 257]
    bands = np.log(_positive(power @ _bank().T))  # [frames, 26]
    cepstra: F64 = bands @ _cosines().T * _lifter()
    cepstra[:, 0] = np.log(_positive(power.sum(axis=1)))
    return cepstra


def _emphasised(samples: I16) -> F64:
    wave = samples.astype(np.float64)
    wave[1:] -= PRE_EMPHASIS * wave[:-1]
    return wave


def _frames(wave: F64) -> F64:
    count = 1 + max(0, -(-(len(wave) - FRAME) // STEP))
    padded = np.pad(wave, (0, (count - 1) * STEP + FRAME - len(wave)))
    return np.lib.stride_tricks.sliding_window_view(padded, FRAME)[::STEP]


def _power(frames: F64) -> F64:
    spectrum: F64 = np.square(np.abs(np.fft.rfft(frames, FFT, axis=1))) / FFT
    return spectrum


def _positive(x: F64) -> F64:
    return np.where(x == 0.0, EPSILON, x)


@cache
def _bank() -> F64:
    """Triangles [26, 257] whose corners are bins: 0 Hz to half the rate, equally spaced in HTK's mel."""
    mel = np.linspace(0.0, float(hertz_to_mel(RATE / 2, "htk")), BANDS + 2)
    edges = np.floor((FFT + 1) * mel_to_hertz(mel, "htk") / RATE)
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    bins = np.arange(FFT // 2 + 1)
    rising, falling = (bins - left) / (centre - left), (right - bins) / (right - centre)
    return np.asarray(np.maximum(0.0, np.minimum(rising, falling)))


@cache
def _cosines() -> F64:
    """The first rows [13, 26] of the orthonormal discrete cosine transform of type 2."""
    row, column = np.arange(CEPSTRA)[:, None], np.arange(BANDS)
    table = np.sqrt(2.0 / BANDS) * np.cos(np.pi * row * (2 * column + 1) / (2 * BANDS))
    table[0] /= np.sqrt(2.0)
    return np.asarray(table)


@cache
def _lifter() -> F64:
    return np.asarray(1.0 + LIFTER / 2.0 * np.sin(np.pi * np.arange(CEPSTRA) / LIFTER))
