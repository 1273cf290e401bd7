"""Level of samples and the silence rule of AVE-Compass 3.2."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.media.types import Audio
from evaluator.metrics.levels import decibels, is_silent, rms, window_rms
from tests.metrics.build import silent, tone


def constant(level: int, present: bool = True) -> Audio:
    return Audio(np.full(1600, level, np.int16), 16_000, present)


def test_rms_does_not_overflow() -> None:
    assert rms(np.full(10, -32768, np.int16)) == 32768.0
    assert rms(np.zeros(0, np.int16)) == 0.0


def test_silence_is_below_one_unit() -> None:
    assert not is_silent(constant(1))
    half = constant(1).samples.copy()
    half[::2] = 0
    assert is_silent(Audio(half, 16_000, True))


def test_no_stream_and_no_sample_are_silent() -> None:
    assert is_silent(silent(1.0, present=False))
    assert is_silent(silent(0.0))


def test_decibels() -> None:
    assert decibels(32768.0) == 0.0
    assert decibels(3276.8) == pytest.approx(-20.0)


def test_window_rms_equals_each_window_alone() -> None:
    samples = tone(0.5, amplitude=1.0).samples
    start = np.array([0, 100, 7000])
    end = np.array([1, 900, 8000])
    expected = [rms(samples[a:b]) for a, b in zip(start, end, strict=True)]
    np.testing.assert_allclose(window_rms(samples, start, end), expected, rtol=1e-12)


def test_silence_after_a_loud_passage_is_exact() -> None:
    samples = np.concatenate([np.full(10**6, 32767), np.zeros(100)]).astype(np.int16)
    assert window_rms(samples, np.array([10**6]), np.array([10**6 + 100])).tolist() == [0.0]
