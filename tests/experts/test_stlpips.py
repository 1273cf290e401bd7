"""Perceptual distance of frame pairs: pairing with a fake session, and how the real network orders distortions."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.stlpips import EXPERT, SIZE
from evaluator.media.types import U8
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Sampling, View
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of, view_of

WANT = ExpertNeed("frame_distance", ("video", "source"), Sampling("equal_indices", (10,)))


def flat(levels: list[int]) -> U8:
    """One grey frame [16, 16, 3] per level."""
    return np.array(levels, np.uint8)[:, None, None, None].repeat(16, 1).repeat(16, 2).repeat(3, 3)


def difference() -> FakeSession:
    """Mean difference of the pixels, in grey levels."""
    return FakeSession(lambda feeds: {"distance": 127.5 * (feeds["first"] - feeds["second"]).mean(axis=(1, 2, 3))})


def test_asks_for_both_clips() -> None:
    needs = EXPERT(FakeSource({})).needs(WANT)
    assert all(isinstance(need, FramesNeed) for need in needs.values())
    assert {name: need.role for name, need in needs.items() if isinstance(need, FramesNeed)} == {
        "first": "video",
        "second": "source",
    }


@pytest.mark.parametrize("extra", [0, 1, 4])
@pytest.mark.parametrize("count", [1, 3, 10])
def test_frames_meet_in_order_and_the_longer_list_is_cut(count: int, extra: int) -> None:
    session = difference()
    first = flat(list(range(10, 10 + count)))
    second = flat([2 * k for k in range(count + extra)])
    found = EXPERT(FakeSource({"stlpips.onnx": session})).run(
        WANT, {"first": frames_of(first), "second": frames_of(second)}
    )
    np.testing.assert_allclose(found.values, [10 - k for k in range(count)], atol=1e-3)
    assert {feeds["first"].shape for feeds in session.fed} == {(1, 3, 16, 16)}


def test_nothing_to_compare_is_not_zero() -> None:
    nothing = frames_of(np.zeros((0, 16, 16, 3), np.uint8))
    with pytest.raises(NotApplicable):
        EXPERT(FakeSource({"stlpips.onnx": difference()})).run(WANT, {"first": nothing, "second": frames_of(flat([1]))})


def test_distortions_are_ordered(clips: Path, models: SessionSource) -> None:
    frame = view_of(clips / "bigbuckbunny.mp4", View(Sampling("ranges", (((40, 41),),)), Fit.SQUASH, SIZE, SIZE)).data[
        0
    ]
    noise = np.random.default_rng(0).normal(0, 1, frame.shape)
    worse = {
        "same": frame,
        "shifted by a pixel": np.roll(frame, 1, axis=1),
        "noise 8": np.clip(frame + 8 * noise, 0, 255).astype(np.uint8),
        "noise 25": np.clip(frame + 25 * noise, 0, 255).astype(np.uint8),
        "blur 1": cv2.GaussianBlur(frame, (0, 0), 1),
        "blur 3": cv2.GaussianBlur(frame, (0, 0), 3),
        "upside down": frame[::-1],
    }
    pair = {"first": frames_of(np.stack([frame] * len(worse))), "second": frames_of(np.stack(list(worse.values())))}
    there = EXPERT(models).run(WANT, pair).values
    value = dict(zip(worse, there.tolist(), strict=True))
    assert value["same"] == pytest.approx(0, abs=1e-5)
    assert value["same"] < value["shifted by a pixel"] < 0.05 < value["blur 1"] < value["blur 3"] < value["upside down"]
    assert 0.02 < value["noise 8"] < value["noise 25"]


def test_view_is_a_squash() -> None:
    need = EXPERT(FakeSource({})).needs(WANT)["second"]
    assert isinstance(need, FramesNeed)
    assert need.view == View(Sampling("equal_indices", (10,)), Fit.SQUASH, SIZE, SIZE, Filter.FFMPEG_BICUBIC)
