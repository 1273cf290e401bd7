"""The contract of the aesthetics expert, on a session without a network."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.errors import ExpertError
from evaluator.experts.aesthetic_v25 import BATCH, EXPERT, SIZE
from evaluator.schema import ExpertNeed, Fit, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

WANT = ExpertNeed("frame_aesthetics", sampling=Sampling("ave_f1", (10,)))


def test_asks_for_squashed_frames() -> None:
    need = EXPERT(FakeSource({})).needs(WANT)["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.view.fit, need.view.height, need.view.width) == (Fit.SQUASH, SIZE, SIZE)
    assert need.view.sampling == WANT.sampling


def test_one_unclamped_figure_per_frame() -> None:
    session = FakeSession(lambda feeds: {"score": 20 * feeds["pixels"].mean(axis=(1, 2, 3))}, ["score"])
    data = np.zeros((BATCH + 2, SIZE, SIZE, 3), np.uint8)
    data[:] = np.linspace(0, 255, BATCH + 2).astype(np.uint8)[:, None, None, None]
    index = 3 * np.arange(BATCH + 2)
    found = EXPERT(FakeSource({"aesthetic_v25.onnx": session})).run(WANT, {"frames": frames_of(data, index, 60)})
    np.testing.assert_allclose(found.values, 20 * (data[:, 0, 0, 0] / 127.5 - 1), atol=1e-3)  # -20..20
    assert found.values.dtype == np.float32
    assert found.index.tolist() == index.tolist()
    assert {feeds["pixels"].shape for feeds in session.fed} == {(BATCH, 3, SIZE, SIZE)}


def test_a_network_without_the_head_is_noticed() -> None:
    session = FakeSession(lambda feeds: {"score": np.zeros((BATCH, 1152), np.float32)}, ["score"])
    with pytest.raises(ExpertError, match="aesthetic_v25"):
        EXPERT(FakeSource({"aesthetic_v25.onnx": session})).run(
            WANT, {"frames": frames_of(np.zeros((2, 8, 8, 3), np.uint8))}
        )
