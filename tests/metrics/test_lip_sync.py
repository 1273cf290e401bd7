"""The lip-sync proxy on mouths and sounds that are made to fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import FaceTrack
from evaluator.media.types import Audio
from evaluator.metrics.base import Outcome
from evaluator.metrics.lip_sync import METRIC
from tests.metrics.build import activity, faces, noise, plain, seconds, silent, sound, tags

DURATION = 8.0


def opening(time: np.ndarray, seed: int = 0) -> np.ndarray:
    """How far a mouth is open at any time: syllables of random size, about four a second."""
    knots = np.arange(-20, 80) * 0.125
    heights = np.random.default_rng(seed).uniform(0, 0.2, len(knots)) * (np.arange(len(knots)) % 2)
    return np.interp(time, knots, heights)


def speech(delay: float = 0.0, seed: int = 0, start: float = 0.0) -> Audio:
    """Noise that is louder where the mouth is more open, `delay` seconds late."""
    time = start + seconds(DURATION)
    carrier = np.random.default_rng(9).normal(size=len(time)) * 0.1
    return sound(carrier * 10 ** (opening(time - delay, seed) * 10 - 2), start=start)


def mouth(rate: float = 25.0, start: float = 0.0) -> FaceTrack:
    count = int(DURATION * rate)
    return faces(opening(start + np.arange(count) / rate), rate, start)


def rate_sync(track: FaceTrack, audio: Audio) -> Outcome:
    return METRIC.compute(faces=track, sound=audio, activity=activity(), tags=tags())


def test_a_mouth_that_follows_the_sound() -> None:
    found = rate_sync(mouth(), speech())
    assert found.value > 0.9
    assert found.details["offset_sec"] == 0.0
    assert found.raw == found.details["zero_lag"] == found.value


@pytest.mark.parametrize("delay", [-0.4, -0.12, 0.0, 0.2, 0.52])
def test_the_offset_is_found(delay: float) -> None:
    """Positive = the sound comes early, so a delay is negative."""
    found = rate_sync(mouth(), speech(delay))
    assert found.details["offset_sec"] == pytest.approx(-delay, abs=0.021)
    assert found.value > 0.9


def test_agreement_at_lag_zero_falls_with_delay() -> None:
    levels = [rate_sync(mouth(), speech(delay)).details["zero_lag"] for delay in (0.0, 0.04, 0.08, 0.12)]
    assert levels == sorted(levels, reverse=True)


@pytest.mark.parametrize("rate", [12.0, 24.0, 30.0, 60.0])
def test_the_frame_rate_does_not_matter(rate: float) -> None:
    found = rate_sync(mouth(rate), speech(0.2))
    assert found.value > 0.85
    assert found.details["offset_sec"] == pytest.approx(-0.2)


def test_streams_with_their_own_start_times() -> None:
    """Frames begin at 1.4 s, sound at 1.1 s: only time stamps say what belongs together."""
    found = rate_sync(mouth(start=1.4), speech(start=1.1))
    assert found.details["offset_sec"] == 0.0
    assert found.value > 0.9


def test_foreign_sound_scores_low() -> None:
    scores = [rate_sync(mouth(), speech(seed=seed)).value for seed in range(1, 6)]
    own = rate_sync(mouth(), speech())
    assert max(scores) < own.value - 0.3


def test_falls_as_the_mouth_trembles() -> None:
    trembling = np.random.default_rng(3).normal(size=200) * 0.1
    track = [faces(np.asarray(mouth().mouth_opening) + g * trembling) for g in (0.0, 0.3, 1.0, 3.0)]
    scores = [rate_sync(one, speech()).value for one in track]
    assert scores == sorted(scores, reverse=True)


def test_still_lips_score_zero() -> None:
    found = rate_sync(faces(np.full(200, 0.1)), speech())
    assert (found.value, found.raw) == (0.0, 0.0)


def test_a_few_lost_frames_do_not_matter() -> None:
    values = mouth().mouth_opening.copy()
    values[::9] = np.nan
    values[60:80] = np.nan
    assert rate_sync(faces(values), speech()).value > 0.85


def test_refusals() -> None:
    hidden = mouth().mouth_opening.copy()
    hidden[: len(hidden) // 2 + 1] = np.nan
    with pytest.raises(NotApplicable, match="A mouth is visible in"):
        rate_sync(faces(hidden), speech())
    with pytest.raises(NotApplicable, match="overlap for"):
        rate_sync(faces(opening(np.arange(40) / 25)), speech())
    with pytest.raises(NotApplicable, match=r"overlap for 0\.00 s"):
        rate_sync(mouth(start=60.0), speech())
    with pytest.raises(NotApplicable, match="No speech"):
        METRIC.compute(faces=mouth(), sound=silent(DURATION), activity=activity(0.0), tags=tags((0.0,)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.4))
def test_stays_in_range(seed: int, lost: float) -> None:
    generator = np.random.default_rng(seed)
    values = np.where(generator.uniform(size=150) < lost, np.nan, generator.uniform(0, 0.3, 150))
    try:
        found = rate_sync(faces(values), noise(6.0, seed=seed))
    except NotApplicable:
        return
    assert 0.0 <= found.value <= 1.0
    assert -0.6 <= found.details["offset_sec"] <= 0.6
    assert plain(dict(found.details))
