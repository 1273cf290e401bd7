"""Shot scores: windowing against a session that says which frame it saw, and golden scores of the real network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import ShotScores
from evaluator.experts.transnetv2 import EXPERT, HEIGHT, WIDTH, WINDOW
from evaluator.media.types import U8
from evaluator.runtime.session import Array, SessionSource
from evaluator.schema import ExpertNeed
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import RATE, chunks, clip_of, feature_of, watch

OVERLAPPING = ExpertNeed("shot_boundaries")
DISJOINT = ExpertNeed("shot_boundaries", options=(("windows", "disjoint"),))


def numbered(count: int) -> U8:
    """Frames that carry their number plus one in two bytes, so that no frame is black."""
    frames = np.zeros((count, HEIGHT, WIDTH, 3), np.uint8)
    number = np.arange(1, count + 1)
    frames[:, 0, 0, 0], frames[:, 0, 0, 1] = number // 256, number % 256
    return frames


def numbers(windows: Array) -> Array:
    """The numbers of `numbered`, 0 for black."""
    return windows[..., 0, 0, 0].astype(int) * 256 + windows[..., 0, 0, 1]


def reader() -> FakeSession:
    """Answers for each frame with a logit that tells its number."""

    def respond(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        assert feeds["frames"].shape == (1, WINDOW, HEIGHT, WIDTH, 3)
        assert feeds["frames"].dtype == np.uint8
        return {"single": (numbers(feeds["frames"]) / 100).astype(np.float32)[..., None]}

    return FakeSession(respond)


def scores(session: FakeSession, want: ExpertNeed, frames: U8, size: int = 32) -> ShotScores:
    found = watch(EXPERT(FakeSource({"transnetv2.onnx": session})), want, frames, size)
    assert isinstance(found, ShotScores)
    return found


@given(st.integers(1, 320), st.integers(1, 64), st.sampled_from([OVERLAPPING, DISJOINT]))
def test_each_score_belongs_to_its_frame_for_every_length_and_chunking(count: int, size: int, want: ExpertNeed) -> None:
    found = scores(reader(), want, numbered(count), size)
    expected = 1 / (1 + np.exp(-np.arange(1, count + 1) / 100))
    np.testing.assert_allclose(found.probability, expected, rtol=1e-6)
    np.testing.assert_allclose(found.time, np.arange(count) / RATE)
    assert found.rate == pytest.approx(RATE)


@pytest.mark.parametrize("count", [1, 24, 50, 51, 100, 175, 349])
def test_overlapping_windows_are_the_authors_own(count: int) -> None:
    session = reader()
    scores(session, OVERLAPPING, numbered(count))
    tail = 25 + 50 - (count % 50 or 50)
    padded = np.concatenate([np.ones(25), np.arange(1, count + 1), np.full(tail, count)])
    expected = [padded[start : start + WINDOW] for start in range(0, len(padded) - WINDOW + 1, 50)]
    np.testing.assert_array_equal([numbers(feeds["frames"])[0] for feeds in session.fed], expected)


@pytest.mark.parametrize("count", [1, 99, 100, 101, 349])
def test_disjoint_windows_end_in_black(count: int) -> None:
    session = reader()
    scores(session, DISJOINT, numbered(count))
    padded = np.zeros(-(-count // WINDOW) * WINDOW)
    padded[:count] = np.arange(1, count + 1)
    found = [numbers(feeds["frames"])[0] for feeds in session.fed]
    np.testing.assert_array_equal(found, padded.reshape(-1, WINDOW))


def test_clips_do_not_see_each_other() -> None:
    expert = EXPERT(FakeSource({"transnetv2.onnx": reader()}))
    first, second = expert.tap(OVERLAPPING, clip_of(130)), expert.tap(OVERLAPPING, clip_of(130))
    for here, there in zip(chunks(numbered(130)), chunks(numbered(260)[130:]), strict=True):
        first.push(here)
        second.push(there)
    expected = 1 / (1 + np.exp(-np.arange(1, 261) / 100))
    np.testing.assert_allclose(first.close().probability, expected[:130], rtol=1e-6)
    np.testing.assert_allclose(second.close().probability, expected[130:], rtol=1e-6)


def test_a_large_logit_is_a_probability() -> None:
    session = FakeSession(lambda feeds: {"single": np.full((1, WINDOW, 1), -1000.0, np.float32)})
    with np.errstate(all="raise", under="ignore"):
        assert scores(session, OVERLAPPING, numbered(3)).probability.tolist() == [0, 0, 0]


def test_an_unknown_windowing_is_refused() -> None:
    want = ExpertNeed("shot_boundaries", options=(("windows", "some"),))
    with pytest.raises(ValueError, match="overlapping"):
        EXPERT(FakeSource({"transnetv2.onnx": reader()})).tap(want, clip_of(3))


def test_a_clip_without_frames_has_no_scores() -> None:
    tap = EXPERT(FakeSource({"transnetv2.onnx": reader()})).tap(OVERLAPPING, clip_of(0))
    with pytest.raises(NotApplicable):
        tap.close()


# ------------------------------------------------------------------------------------------- the real network


@pytest.mark.parametrize(("want", "key"), [(OVERLAPPING, "official_windows"), (DISJOINT, "reference_windows")])
def test_golden_scores_of_a_synthetic_clip(shared: Path, models: SessionSource, want: ExpertNeed, key: str) -> None:
    folder = shared / "data" / "cutcraft" / "golden"
    frames = next(iter(np.load(folder / "transnetv2_synthetic_frames.npz").values()))
    expected = json.loads((folder / "transnetv2_synthetic_predictions.json").read_text())[key]
    found = watch(EXPERT(models), want, frames)
    np.testing.assert_allclose(found.probability, expected, atol=1e-3)


SLOW = ("playground_veo.mp4", "talking1.mp4")
REAL_CLIPS = ["fireworks.mp4", "lowres_dark.mp4", *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)]


@pytest.mark.parametrize("name", REAL_CLIPS)
def test_golden_maximum_of_real_clips(shared: Path, models: SessionSource, name: str) -> None:
    expected = json.loads((shared / "golden" / "transnetv2.json").read_text())["clips"][name]
    found = feature_of(EXPERT(models), OVERLAPPING, shared / "data" / "clips" / name)
    assert found.probability.max() == pytest.approx(expected["max"], abs=0.02)
    assert abs(len(found.probability) - expected["frames"]) <= 1  # FFmpeg repeats a frame of one clip


def test_five_cuts_of_bikes(clips: Path, models: SessionSource) -> None:
    found = feature_of(EXPERT(models), OVERLAPPING, clips / "bikes.mp4")
    above = np.flatnonzero(found.probability > 0.5)
    peaks = [int(run[0]) for run in np.split(above, np.flatnonzero(np.diff(above) > 1) + 1)]
    assert peaks == [29, 75, 136, 186, 241]
