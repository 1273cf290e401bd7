"""ITU-R BS.1770-4 against known values and a literal version."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from evaluator.errors import NotApplicable
from evaluator.media.types import Audio
from evaluator.metrics.loudness import METRIC, RATE
from tests.metrics.build import noise, plain, seconds, silent, sound


def sine(decibels: float, duration: float = 5.0, hertz: float = 997.0) -> np.ndarray:
    return 10 ** (decibels / 20) * np.sin(2 * np.pi * hertz * seconds(duration, RATE))


def measure(values: np.ndarray) -> float:
    return METRIC.compute(sound=sound(values, RATE)).value


def literal(audio: Audio) -> float:
    """The standard's formulas, block by block."""
    x = lfilter([1.53512485958697, -2.69169618940638, 1.19839281085285], [1, -1.69065929318241, 0.73248077421585],
                audio.samples / 32768)  # fmt: skip
    x = lfilter([1, -2, 1], [1, -1.99004745483398, 0.99007225036621], x)
    power = np.array([np.mean(x[a : a + 19_200] ** 2) for a in range(0, len(x) - 19_199, 4_800)])
    loudness = -0.691 + 10 * np.log10(power)
    first = power[loudness > -70]
    second = power[(loudness > -70) & (loudness > -0.691 + 10 * np.log10(first.mean()) - 10)]
    return float(-0.691 + 10 * np.log10(second.mean()))


def test_the_reference_sine_of_the_standard() -> None:
    assert measure(sine(0.0)) == pytest.approx(-3.01, abs=0.02)


@pytest.mark.parametrize("level", [-6.0, -20.0, -40.0])
def test_decibels_are_loudness_units(level: float) -> None:
    assert measure(sine(level)) == pytest.approx(measure(sine(0.0)) + level, abs=0.01)


def test_low_tones_are_softer_and_high_ones_louder() -> None:
    assert measure(sine(-20, hertz=60)) < measure(sine(-20)) - 1
    assert measure(sine(-20, hertz=6000)) > measure(sine(-20)) + 2


def test_the_relative_gate_ignores_quiet_parts() -> None:
    """As in EBU Tech 3341: quiet, loud, quiet reads as the loud part alone."""
    parts = np.concatenate([sine(-36, 2.0), sine(-23, 30.0), sine(-36, 2.0)])
    assert measure(parts) == pytest.approx(measure(sine(-23)), abs=0.1)


def test_the_absolute_gate_ignores_silence() -> None:
    assert measure(np.concatenate([sine(-20), np.zeros(20 * RATE)])) == pytest.approx(measure(sine(-20)), abs=0.2)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(19_200, 60_000), st.floats(-30, 0))
def test_equals_the_literal_definition(seed: int, samples: int, level: float) -> None:
    audio = noise(samples / RATE, 10 ** (level / 20), seed, RATE)
    found = METRIC.compute(sound=audio)
    assert found.value == pytest.approx(literal(audio), abs=1e-6)
    assert found.value > -70.0
    assert plain(dict(found.details))


def test_silent_or_short_sound_has_no_loudness() -> None:
    for audio in (silent(3.0), sound(np.zeros(0), RATE), sound(sine(0, 0.39), RATE), sound(sine(-80), RATE)):
        with pytest.raises(NotApplicable, match="-70 LUFS"):
            METRIC.compute(sound=audio)
