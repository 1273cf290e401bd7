"""Share of silence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.metrics.base import Outcome
from evaluator.metrics.silence import METRIC
from tests.metrics.build import RATE, noise, plain, silent, sound, tone


def measure(values: np.ndarray) -> Outcome:
    return METRIC.compute(sound=sound(values))


def test_all_and_nothing() -> None:
    whole = METRIC.compute(sound=silent(2.0))
    assert (whole.value, whole.raw, whole.details["longest_sec"], whole.details["is_silent"]) == (1.0, 2.0, 2.0, True)
    assert whole.details["rms_dbfs"] is None
    loud = METRIC.compute(sound=tone(2.0))
    assert (loud.value, loud.raw, loud.details["is_silent"]) == (0.0, 0.0, False)
    assert loud.details["rms_dbfs"] == pytest.approx(20 * np.log10(0.3 / np.sqrt(2)), abs=0.01)


@pytest.mark.parametrize("muted", [0.0, 0.25, 0.5, 1.0, 2.0])
def test_muting_adds_up(muted: float) -> None:
    values = np.asarray(tone(2.0).samples) / 32767
    values[: round(muted * RATE)] = 0.0
    assert measure(values).raw == pytest.approx(muted)


def test_grows_as_the_level_falls() -> None:
    values = np.asarray(noise(2.0, 1.0).samples) / 32767 * np.linspace(0, 1, 2 * RATE)
    shares = [measure(gain * values).value for gain in (1.0, 0.1, 0.01, 0.001)]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_quiet_is_not_silent() -> None:
    """-70 dBFS is below the threshold of a quiet window and above the rule for a silent track."""
    found = METRIC.compute(sound=tone(1.0, amplitude=10 ** (-67 / 20)))
    assert (found.value, found.details["is_silent"]) == (1.0, False)


def test_the_longest_pause() -> None:
    values = np.asarray(tone(2.0).samples) / 32767
    values[:3200] = 0.0
    values[8000:16_000] = 0.0
    found = measure(values)
    assert found.details["longest_sec"] == 0.5
    assert found.raw == pytest.approx(0.7)


def test_the_last_window_may_be_short() -> None:
    values = np.concatenate([np.full(800, 0.5), np.zeros(200)])
    assert measure(values).value == 0.2


def test_no_sample_no_answer() -> None:
    with pytest.raises(NotApplicable):
        METRIC.compute(sound=silent(0.0))


@settings(deadline=None)
@given(st.integers(1, 5000), st.floats(-100, 0), st.integers(0, 2**32 - 1))
def test_stays_in_range(samples: int, level: float, seed: int) -> None:
    found = METRIC.compute(sound=noise(samples / RATE, 10 ** (level / 20), seed))
    assert 0.0 <= found.value <= 1.0
    assert found.details["longest_sec"] <= found.raw + 1e-9
    assert plain(dict(found.details))
