"""Short-time spectra of sound in numpy. Knows nothing about what is compared with them."""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64, I16


def hann(size: int) -> F64:
    """Periodic Hann window [size]."""
    return 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(size) / size)


def stft_magnitude(samples: I16, size: int = 1024) -> F64:
    """Magnitude spectrogram [frames, size // 2 + 1] with a Hann window and half overlap, in units of the samples.

    Geometry of AVE-Compass 4.9: half a window of zeros on both sides, then zeros up to whole windows, magnitudes
    divided by the sum of the window; ceil(T / hop) + 1 frames. Frames come first, so that a range of frames is
    contiguous in memory.
    """
    hop = size // 2
    frames = -(-len(samples) // hop) + 1
    padded = np.zeros((frames + 1) * hop)
    padded[hop : hop + len(samples)] = samples
    windows = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop]  # [frames, size]
    window = hann(size)
    magnitude: F64 = np.abs(np.fft.rfft(windows * window, axis=1)) / window.sum()
    return magnitude
