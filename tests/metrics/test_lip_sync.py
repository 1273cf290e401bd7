"""The lip-sync proxy on mouths and sounds that are made to fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.blazeface import EXPERT as FACES
from evaluator.experts.features import FaceTrack
from evaluator.media.decode import decode
from evaluator.media.probe import probe
from evaluator.media.types import Audio
from evaluator.metrics.base import Outcome
from evaluator.metrics.lip_sync import METRIC
from evaluator.runtime.session import SessionSource
from evaluator.schema import ALL_FRAMES, AudioView, ExpertNeed
from tests.metrics.build import RATE, activity, faces, noise, plain, seconds, silent, sound, tags

DURATION = 8.0


def opening(time: np.ndarray, seed: int = 0) -> np.ndarray:
    """How far a mouth is open at any time: syllables of random size and length, about four a second."""
    generator = np.random.default_rng(seed)
    knots = np.cumsum(generator.uniform(0.06, 0.19, 200)) - 5.0
    heights = generator.uniform(0, 0.2, len(knots)) * (np.arange(len(knots)) % 2)
    return np.interp(time, knots, heights)


def speech(delay: float = 0.0, seed: int = 0, start: float = 0.0) -> Audio:
    """Noise whose amplitude is the opening of the mouth, `delay` seconds late."""
    time = start + seconds(DURATION)
    carrier = np.random.default_rng(9).normal(size=len(time))
    return sound(carrier * (opening(time - delay, seed) + 0.01), start=start)


def mouth(rate: float = 25.0, start: float = 0.0) -> FaceTrack:
    count = int(DURATION * rate)
    return faces(opening(start + np.arange(count) / rate), rate, start)


def rate_sync(track: FaceTrack, audio: Audio) -> Outcome:
    return METRIC.compute(faces=track, sound=audio, activity=activity(), tags=tags())


def test_a_mouth_that_follows_the_sound() -> None:
    found = rate_sync(mouth(), speech())
    assert found.value > 0.9
    assert found.raw == found.value == found.details["peak"]
    assert found.details["offset_sec"] == 0.0
    assert found.details["chance"] < 0.5


@pytest.mark.parametrize("delay", [-0.4, -0.12, 0.0, 0.2, 0.52])
def test_the_offset_is_found(delay: float) -> None:
    """Positive = the sound comes early, so a delay is negative."""
    found = rate_sync(mouth(), speech(delay))
    assert found.details["offset_sec"] == pytest.approx(-delay, abs=0.021)
    assert found.details["peak"] > 0.9


def test_a_delay_counts_when_it_can_be_noticed() -> None:
    scores = {delay: rate_sync(mouth(), speech(delay)).value for delay in (-0.3, -0.08, 0.0, 0.08, 0.3)}
    unnoticed = min(scores[-0.08], scores[0.0], scores[0.08])
    assert unnoticed > 0.9
    assert max(scores[-0.3], scores[0.3]) < unnoticed - 0.3


def test_slow_drift_of_pose_and_loudness_does_not_matter() -> None:
    time = np.arange(200) / 25
    drifting = faces(opening(time) + 0.1 * np.sin(time))
    louder = speech().samples * np.linspace(0.5, 1.0, int(DURATION * RATE))
    assert rate_sync(drifting, Audio(louder.astype(np.int16), RATE, True)).value > 0.85


@pytest.mark.parametrize("rate", [12.0, 24.0, 30.0, 60.0])
def test_the_frame_rate_does_not_matter(rate: float) -> None:
    found = rate_sync(mouth(rate), speech(0.2))
    assert found.details["peak"] > 0.8
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
    with pytest.raises(NotApplicable, match="No speech"):
        METRIC.compute(faces=mouth(), sound=silent(DURATION), activity=activity(0.0), tags=tags((0.0,)))


@pytest.mark.parametrize("track", [faces(opening(np.arange(40) / 25)), mouth(start=60.0)], ids=["short", "elsewhere"])
def test_needs_two_seconds_together(track: FaceTrack) -> None:
    with pytest.raises(NotApplicable, match="less than two seconds"):
        rate_sync(track, speech())


def test_a_short_clip_has_no_chance_level() -> None:
    track = faces(opening(np.arange(70) / 25))
    found = rate_sync(track, Audio(speech().samples[: int(2.8 * RATE)], RATE, True))
    assert found.details["chance"] is None
    assert found.value > 0.9


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


@pytest.mark.slow
def test_a_recorded_talking_head(models: SessionSource, shared: Path) -> None:
    """In sync as recorded; a shift of the sound is measured to the tick and lowers the score."""
    path, want, view = shared / "data/clips/talking2.mp4", ExpertNeed("faces", sampling=ALL_FRAMES), AudioView()
    clip, expert = probe(path), FACES(models)
    tap = expert.tap(want, clip)
    audio, _ = decode(path, clip, [(expert.view(want), tap)], [view])
    track = tap.close()
    found = {late: rate_sync(track, replace(audio[view], start=audio[view].start + late)) for late in (-0.4, 0.0, 0.2)}
    for late, outcome in found.items():
        assert outcome.details["offset_sec"] == pytest.approx(-late, abs=0.041)
    assert found[0.0].value > 2 * max(found[-0.4].value, found[0.2].value)
    assert found[0.0].value > found[0.0].details["chance"]
