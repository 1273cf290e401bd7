"""Needs and windows that the sound experts share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.waveform import samples_of, sound_need, windows, zero_padded
from evaluator.media.types import Audio
from evaluator.schema import AudioNeed, AudioView, ExpertNeed


def test_the_need_is_16_khz_of_the_clip_that_is_asked_about() -> None:
    assert sound_need(ExpertNeed("x", roles=("source",))) == AudioNeed(AudioView(16_000, "skip"), "source")


def test_samples_are_scaled() -> None:
    found = samples_of(Audio(np.array([-32768, 0, 16384], np.int16), 16_000, True), "X")
    np.testing.assert_array_equal(found, np.array([-1, 0, 0.5], np.float32))


def test_too_short_is_not_applicable_and_says_how_short() -> None:
    with pytest.raises(NotApplicable, match=r"X needs 1\.00 s of sound; this clip has 0\.50 s") as raised:
        samples_of(Audio(np.zeros(8000, np.int16), 16_000, True), "X", least=16_000)
    assert raised.value.reason == "not_applicable"
    with pytest.raises(NotApplicable, match=r"^X needs sound; this clip has none: its audio stream holds no sample\.$"):
        samples_of(Audio(np.zeros(0, np.int16), 16_000, True), "X")


@given(st.integers(0, 40), st.integers(1, 20), st.lists(st.integers(0, 40)))
def test_windows_have_one_size_and_hold_the_samples(count: int, size: int, starts: list[int]) -> None:
    samples = np.arange(1, count + 1, dtype=np.float32)
    found = list(windows(samples, starts, size))
    assert len(found) == len(starts)
    for start, window in zip(starts, found, strict=True):
        assert window.shape == (1, size)
        expected = [k + 1 if k < count else 0 for k in range(start, start + size)]
        np.testing.assert_array_equal(window[0], expected)


def test_padding_never_shortens() -> None:
    np.testing.assert_array_equal(zero_padded(np.ones(3, np.float32), 2), np.ones(3))
