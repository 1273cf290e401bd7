"""The transform of Demucs and its inverse: scipy's frames, and identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.fft import rfft
from scipy.signal.windows import hann

from evaluator.experts.complex_spectra import BINS, EDGE, FFT, HOP, spectra, waves


def noise(channels: int, samples: int, seed: int = 0) -> np.ndarray:
    return np.random.RandomState(seed).standard_normal((channels, samples)).astype(np.float32)


def test_a_frame_is_the_windowed_transform_around_its_own_hop() -> None:
    wave = noise(2, 20 * HOP)
    found = spectra(wave)
    assert found.shape == (4, BINS, 20)
    for channel in range(2):
        for frame in (4, 9, 15):
            start = frame * HOP + HOP // 2 - FFT // 2  # as many samples before the hop as behind it
            wanted = rfft(wave[channel, start : start + FFT].astype(float) * hann(FFT, sym=False))[:BINS] / 64
            assert found[2 * channel, :, frame] == pytest.approx(wanted.real, abs=1e-5)
            assert found[2 * channel + 1, :, frame] == pytest.approx(wanted.imag, abs=1e-5)


@given(st.integers(EDGE + 1, 12 * HOP), st.integers(1, 3))
@settings(deadline=None, max_examples=15)
def test_there_and_back_is_the_wave_but_for_its_highest_bin(samples: int, channels: int) -> None:
    time = np.arange(samples)
    low = np.stack([np.sin(0.05 * (k + 1) * time + k) for k in range(channels)]).astype(np.float32)
    back = waves(spectra(low), samples)
    assert back.shape == low.shape
    inner = slice(2 * HOP, max(2 * HOP, samples - 2 * HOP))  # the edges lack frames that would overlap there
    assert back[:, inner] == pytest.approx(low[:, inner], abs=1e-4)


def test_the_way_is_linear_and_keeps_channels_apart() -> None:
    a, b = noise(2, 8 * HOP, 1), noise(2, 8 * HOP, 2)
    assert spectra(a + b) == pytest.approx(spectra(a) + spectra(b), abs=1e-4)
    a[1] = 0
    assert not spectra(a)[2:].any()
    assert not waves(spectra(a), 8 * HOP)[1].any()
