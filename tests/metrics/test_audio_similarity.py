"""AVE-Compass 4.9 and its golden values (12.7)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.metrics.audio_similarity import METRIC
from tests.metrics import lcg
from tests.metrics.build import RATE, noise, plain, silent, sound, tone

M = lcg.melody()


def delayed(samples: int) -> np.ndarray:
    return np.concatenate([np.zeros(samples), M])[: len(M)]


def muted(start: int) -> np.ndarray:
    return np.where(np.arange(len(M)) < start, M, 0.0)


GOLDENS = [
    ("same", M, 1.0, 1.0, 0),
    ("quieter", 0.1 * M, 1.0, 1.000008, 0),
    ("delayed", delayed(8000), 0.955554, 0.911108, -16),
    ("head removed", M[8000:], 0.954261, 0.908522, 16),
    ("first 2 s", M[: 2 * RATE], 0.994691, 0.989383, 0),
    ("first 1 s", M[:RATE], 0.992856, 0.985712, 0),
    ("second half zeroed", muted(len(M) // 2), 0.853355, 0.706711, 0),
    ("zeros", 0.0 * M, 0.0, -1.0, -79),
]


@pytest.mark.parametrize(("name", "output", "score", "rho", "lag"), GOLDENS, ids=[row[0] for row in GOLDENS])
def test_golden(name: str, output: np.ndarray, score: float, rho: float, lag: int) -> None:
    found = METRIC.compute(output=sound(output), source=sound(M))
    assert found.value == pytest.approx(score, abs=1e-5)
    assert found.raw == pytest.approx(rho, abs=2e-5)
    assert found.details["best_lag_frames"] == lag
    assert found.details["best_lag_sec"] == pytest.approx(0.032 * lag)


def test_golden_noise() -> None:
    u = lcg.noise(len(M))
    mixed = METRIC.compute(output=sound(M + 0.1 * u), source=sound(M))
    alone = METRIC.compute(output=sound(0.1 * u), source=sound(M))
    assert mixed.value == pytest.approx(0.990002, abs=1e-4)
    assert alone.value == pytest.approx(0.509953, abs=1e-4)
    assert alone.details["best_lag_frames"] == -75


def test_a_delay_that_is_only_a_time_stamp_is_told_and_not_scored() -> None:
    found = METRIC.compute(output=sound(M, start=0.4), source=sound(M))
    assert found.value == pytest.approx(1.0)
    assert found.details["start_difference_sec"] == pytest.approx(0.4)
    assert METRIC.compute(output=silent(2.0, present=False), source=sound(M)).details["start_difference_sec"] is None


def test_two_silent_clips_agree() -> None:
    found = METRIC.compute(output=silent(3.0, present=False), source=silent(2.0))
    assert (found.value, found.raw, found.details["method"]) == (1.0, None, "both_silent")


def test_one_silent_clip_has_nothing_in_common() -> None:
    found = METRIC.compute(output=silent(5.0, present=False), source=sound(M))
    assert (found.value, found.details["gain_db"]) == (0.0, None)


def test_short_sound_is_extended() -> None:
    click = sound(M[:100])
    assert METRIC.compute(output=click, source=click).value == pytest.approx(1.0, abs=1e-9)


def test_diagnostics_see_what_the_score_does_not() -> None:
    found = METRIC.compute(output=sound(0.1 * M[: 4 * RATE]), source=sound(M[: 4 * RATE]))
    assert found.value > 0.9999
    assert found.details["gain_db"] == pytest.approx(-20.0, abs=0.01)
    shorter = METRIC.compute(output=sound(M[: 2 * RATE]), source=sound(M[: 4 * RATE]))
    assert shorter.details["duration_ratio"] == 0.5


def test_falls_as_noise_grows() -> None:
    base, added = np.asarray(tone(2.0).samples) / 32767, np.asarray(noise(2.0, 1.0).samples) / 32767
    scores = [METRIC.compute(output=sound(base + g * added), source=sound(base)).value for g in (0, 0.02, 0.1, 0.7)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] - scores[-1] > 0.05


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 4000), st.integers(0, 4000), st.integers(0, 2**32 - 1))
def test_stays_in_range(first: int, second: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    loud = 10.0 ** generator.uniform(-5, 0)
    clips = [sound(loud * generator.uniform(-1, 1, count)) for count in (first, second)]
    found = METRIC.compute(output=clips[0], source=clips[1])
    assert 0.0 <= found.value <= 1.0
    assert plain(dict(found.details))
