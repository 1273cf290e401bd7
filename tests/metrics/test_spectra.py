"""The short-time spectrum against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

from evaluator.metrics.spectra import hann, stft_magnitude


@pytest.mark.parametrize(("samples", "frames"), [(1024, 3), (1025, 4), (16_000, 33), (80_000, 158)])
def test_frame_counts_of_the_specification(samples: int, frames: int) -> None:
    assert stft_magnitude(np.ones(samples, np.int16)).shape == (frames, 513)


@pytest.mark.parametrize("samples", [2048, 5000, 16_000])
def test_equals_scipy(samples: int) -> None:
    values = np.random.default_rng(samples).integers(-9000, 9000, samples).astype(np.int16)
    _, _, expected = signal.stft(values.astype(np.float64), 16_000, "hann", 1024, 512)
    np.testing.assert_allclose(stft_magnitude(values), np.abs(expected).T, atol=1e-9)


def test_hann_is_periodic() -> None:
    np.testing.assert_allclose(hann(1024), signal.get_window("hann", 1024), atol=1e-15)
