"""Cepstra against the published pipeline's figures and against scipy's transform."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.fft import dct

from evaluator.experts import mfcc as module
from evaluator.experts.mfcc import CEPSTRA, mfcc

GOLDEN = (20.4949, 18.8054, 1.7171, -14.1878, -27.1911, -33.5248, -29.6823, -18.5614, -3.2671, 10.0416, 18.0252)
"""AVE-Compass 12.6: python_speech_features 0.6 on a second of 440 Hz at half scale, the first row's first cepstra."""


def tone(samples: int = 16_000) -> np.ndarray[tuple[int], np.dtype[np.int16]]:
    return np.round(32767 * 0.5 * np.sin(2 * np.pi * 440 * np.arange(samples) / 16_000)).astype(np.int16)


def test_published_cepstra() -> None:
    found = mfcc(tone())
    assert found.shape == (99, 13)
    np.testing.assert_allclose(found[0, :11], GOLDEN, atol=5e-4)
    np.testing.assert_allclose(found[0, 11:], (17.9817, 11.9267), atol=5e-4)


@given(st.integers(1, 3000))
@settings(max_examples=40, deadline=None)
def test_a_frame_every_ten_milliseconds_and_a_last_one_that_may_be_part_zero(samples: int) -> None:
    assert len(mfcc(np.ones(samples, np.int16))) == 1 + max(0, -(-(samples - 400) // 160))


def test_the_transform_is_scipys() -> None:
    values = np.random.default_rng(0).standard_normal((5, module.BANDS))
    expected = dct(values, type=2, axis=1, norm="ortho")[:, :CEPSTRA]
    np.testing.assert_allclose(values @ module._cosines().T, expected, atol=1e-12)


def test_silence_has_finite_cepstra() -> None:
    """Zeros become the smallest step of a double before the logarithm."""
    found = mfcc(np.zeros(4000, np.int16))
    assert np.isfinite(found).all()
    assert found[:, 0] == pytest.approx(np.log(np.finfo(float).eps))


def test_ten_times_the_level_adds_to_the_energy_only() -> None:
    quiet, loud = mfcc(tone() // 10), mfcc(tone())
    np.testing.assert_allclose(loud[5:-5, 0] - quiet[5:-5, 0], 2 * np.log(10), atol=0.01)
