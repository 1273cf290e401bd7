"""Complex short-time spectra and the way back, in the geometry of Demucs: outside of its network, in numpy.

Complex numbers have no ONNX counterpart that every engine takes, so HTDemucs hears a spectrum as twice as many channels
of real numbers and answers in the same form. Frames and padding are such that a wave of T samples has ceil(T / HOP)
frames and each is centred on its own HOP samples. Sums are in float64, one channel at a time. Knows no network.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from evaluator.experts.spectral import hann
from evaluator.media.types import F32, F64

FFT, HOP = 4096, 1024
BINS = FFT // 2  # the highest one, at half the rate, is left out
EDGE = 3 * HOP // 2  # samples of reflected sound on each side, beyond those that centre the first and last frame
SPARE = 2  # frames on each side that the padding makes and nobody wants
SCALE = FFT**-0.5

C128 = npt.NDArray[np.complex128]


def spectra(wave: F32) -> F32:
    """[2 * C, BINS, frames] of a wave [C, T]: real and imaginary part of each channel in turn. T is above EDGE."""
    frames = -(-wave.shape[1] // HOP)
    return np.concatenate([_parts(_forward(channel, frames)) for channel in wave])


def waves(channels: F32, samples: int) -> F32:
    """[C, T = samples] of spectra [2 * C, BINS, frames]: the inverse of `spectra` but for the highest bin."""
    pairs = channels.reshape(-1, 2, *channels.shape[1:]).astype(np.float64)
    return np.stack([_inverse(real + 1j * imaginary, samples) for real, imaginary in pairs])


def _forward(wave: F32, frames: int) -> C128:
    """[BINS, frames] of one channel [T]."""
    behind = EDGE + frames * HOP - len(wave)
    padded = np.pad(np.pad(wave.astype(np.float64), (EDGE, behind), mode="reflect"), FFT // 2, mode="reflect")
    cut = np.lib.stride_tricks.sliding_window_view(padded, FFT)[::HOP][SPARE : SPARE + frames]  # [frames, FFT]
    return np.asarray(np.fft.rfft(cut * hann(FFT, FFT), axis=1)[:, :BINS].T * SCALE)


def _parts(spectrum: C128) -> F32:
    return np.stack([spectrum.real, spectrum.imag]).astype(np.float32)


def _inverse(spectrum: C128, samples: int) -> F32:
    """[samples] of one channel [BINS, frames]: frames added under the window, over the sum of its squares."""
    whole = np.pad(spectrum / SCALE, ((0, 1), (SPARE, SPARE)))  # [FFT // 2 + 1, frames + 2 * SPARE]
    found = _added(np.fft.irfft(whole.T, FFT, axis=1) * hann(FFT, FFT)) / _weights(whole.shape[1])
    start = FFT // 2 + EDGE
    return np.asarray(found[start : start + samples], np.float32)


@lru_cache(maxsize=2)
def _weights(frames: int) -> F64:
    """Sum of the squared windows of so many frames, read-only; its ends, where it is 0, are cut off later."""
    found = np.maximum(_added(np.tile(np.square(hann(FFT, FFT)), (frames, 1))), np.finfo(np.float64).tiny)
    found.flags.writeable = False
    return found


def _added(frames: F64) -> F64:
    """Frames [N, FFT], HOP samples apart, added up."""
    rows = np.zeros((len(frames) + FFT // HOP - 1, HOP))
    for part in range(FFT // HOP):
        rows[part : part + len(frames)] += frames[:, part * HOP : (part + 1) * HOP]
    return rows.reshape(-1)
