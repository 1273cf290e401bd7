"""One clock for a measurement per frame and the level of the sound."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.media.types import Audio
from evaluator.metrics.alignment import sample_track, sample_voice, syllables, ticks
from tests.metrics.build import RATE, seconds, sound


def test_ticks_do_not_depend_on_rounding() -> None:
    assert len(ticks(0.0, 10.0)) == 251
    assert len(ticks(1 / 3, 1 / 3 + 9.96)) == 250
    np.testing.assert_allclose(np.diff(ticks(0.7, 3.0)), 0.04)


@pytest.mark.parametrize("rate", [10.0, 24.0, 30.0, 60.0])
def test_a_track_means_the_same_at_any_frame_rate(rate: float) -> None:
    time = 0.4 + np.arange(int(3 * rate)) / rate
    clock = ticks(0.4, float(time[-1]))
    np.testing.assert_allclose(sample_track(time, 2.0 * time, clock), 2.0 * clock)


def test_variable_frame_times_are_used_as_they_are() -> None:
    time = np.sort(np.random.default_rng(0).uniform(0, 4, 400))
    clock = ticks(0.2, 3.8)
    assert np.nanmax(np.abs(sample_track(time, np.sin(time), clock) - np.sin(clock))) < 1e-3


def test_gaps_and_ends_are_unknown() -> None:
    time = np.arange(50) / 25
    value = np.where((time > 0.5) & (time < 1.0), np.nan, 1.0)
    found = sample_track(time, value, ticks(-0.2, 2.4))
    clock = ticks(-0.2, 2.4)
    known = np.isfinite(found)
    assert not known[clock < -0.01].any()
    assert not known[(clock > 0.55) & (clock < 0.95)].any()
    assert not known[clock > 1.97].any()
    assert known[(clock >= 0) & (clock < 0.45)].all()


def test_a_single_failed_frame_is_bridged() -> None:
    time = np.arange(10) / 25
    value = time.copy()
    value[4] = np.nan
    np.testing.assert_allclose(sample_track(time, value, time), time, atol=1e-12)


def test_nothing_measured_nothing_known() -> None:
    assert np.isnan(sample_track(np.arange(3.0), np.full(3, np.nan), ticks(0.0, 2.0))).all()


def sine(hertz: float, start: float = 0.0) -> Audio:
    return sound(0.5 * np.sin(2 * np.pi * hertz * seconds(2.0)), start=start)


def test_level_of_a_sine_is_its_rms() -> None:
    level = sample_voice(sine(1500, start=5.0), np.array([4.0, 5.01, 5.5, 6.5, 6.99, 8.0]))
    np.testing.assert_allclose(level[2:4], 32767 * 0.5 / np.sqrt(2), rtol=0.02)
    assert np.isnan(level[[0, 1, 4, 5]]).all()


@pytest.mark.parametrize("hertz", [60.0, 120.0])
def test_hum_and_pitch_are_not_the_voice_of_an_open_mouth(hertz: float) -> None:
    at = np.array([1.0])
    assert sample_voice(sine(hertz), at)[0] < 0.1 * sample_voice(sine(1500), at)[0]


def test_the_filter_does_not_delay() -> None:
    click = np.zeros(RATE)
    click[8000] = 1.0
    level = sample_voice(sound(click), np.array([0.44, 0.5, 0.56]))
    assert level[1] > 100 * max(level[0], level[2])


def test_silence_has_no_level() -> None:
    assert sample_voice(sound(np.zeros(RATE)), np.array([0.5])).tolist() == [0.0]


@pytest.mark.parametrize("samples", [0, 3])
def test_sound_shorter_than_a_window(samples: int) -> None:
    assert np.isnan(sample_voice(sound(np.zeros(samples)), np.array([0.0]))).all()


def test_syllables_stay_and_drift_goes() -> None:
    time = ticks(0.0, 8.0)
    inner = slice(10, -10)
    syllable, drift = np.sin(2 * np.pi * 4 * time), np.sin(2 * np.pi * 0.2 * time)
    assert np.std(syllables(syllable)[inner]) > 0.9 * np.std(syllable[inner])
    assert np.std(syllables(drift)[inner]) < 0.02 * np.std(drift[inner])


def test_syllables_keep_gaps() -> None:
    x = np.arange(30.0)
    x[10:14] = np.nan
    found = syllables(x)
    assert np.isnan(found).tolist() == np.isnan(x).tolist()
    assert found[5] == 0.0
    assert syllables(np.full(5, np.nan)).shape == (5,)
