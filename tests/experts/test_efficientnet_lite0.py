"""Image embeddings: the contract with a fake session, and what the real network finds alike."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evaluator.experts.efficientnet_lite0 import BATCH, EXPERT, SIZE
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Fit, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import feature_of, frames_of

WANT = ExpertNeed("image_embedding", sampling=Sampling("linspace", (11,)))


def test_asks_for_the_frames_of_the_request_in_the_role_of_the_request() -> None:
    want = ExpertNeed("image_embedding", ("source",), Sampling("every", (3,)))
    need = EXPERT(FakeSource({})).needs(want)["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.role, need.view.sampling, need.view.fit) == ("source", Sampling("every", (3,)), Fit.SQUASH)
    assert (need.view.height, need.view.width) == (SIZE, SIZE)


@pytest.mark.parametrize("count", [1, BATCH, BATCH + 3])
def test_rows_keep_their_frames_and_batches_their_size(count: int) -> None:
    session = FakeSession(
        lambda feeds: {"embedding": feeds["pixels"].mean(axis=(2, 3)), "logits": np.zeros((BATCH, 1000))},
        ["embedding", "logits"],
    )
    data = np.random.default_rng(0).integers(0, 256, (count, SIZE, SIZE, 3), dtype=np.uint8)
    data[:] = data[:, :1, :1]  # one colour a frame
    found = EXPERT(FakeSource({"efficientnet_lite0.onnx": session})).run(WANT, {"frames": frames_of(data)})
    colours = data[:, 0, 0] / 127.5 - 1
    np.testing.assert_allclose(found.vectors, colours / np.linalg.norm(colours, axis=1, keepdims=True), atol=1e-5)
    assert found.index.tolist() == list(range(count))
    assert {feeds["pixels"].shape for feeds in session.fed} == {(BATCH, 3, SIZE, SIZE)}


def test_shots_of_a_clip_are_told_apart(clips: Path, models: SessionSource) -> None:
    shot = np.array([*range(0, 28, 9), *range(80, 134, 18), *range(190, 240, 20)])  # frames of three shots
    which = np.searchsorted([30, 137], shot)
    want = ExpertNeed("image_embedding", sampling=Sampling("ranges", (tuple((int(k), int(k) + 1) for k in shot),)))
    found = feature_of(EXPERT(models), want, clips / "bikes.mp4")
    assert found.index.tolist() == shot.tolist()
    similarity = found.vectors @ found.vectors.T
    same = which[:, None] == which
    assert similarity[same].mean() > 0.8
    assert similarity[~same].mean() < 0.5
    np.testing.assert_allclose(np.diag(similarity), 1, atol=1e-5)


def test_the_same_frame_gives_the_same_vector_in_any_company(clips: Path, models: SessionSource) -> None:
    expert = EXPERT(models)
    alone = feature_of(
        expert, ExpertNeed("image_embedding", sampling=Sampling("ranges", (((10, 11),),))), clips / "bikes.mp4"
    )
    among = feature_of(
        expert, ExpertNeed("image_embedding", sampling=Sampling("ranges", (((7, 17),),))), clips / "bikes.mp4"
    )
    np.testing.assert_allclose(among.vectors[3], alone.vectors[0], atol=1e-6)
