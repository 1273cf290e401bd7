"""The contract of the VideoCLIP-XL expert, on a session without a network."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from evaluator.errors import ExpertError
from evaluator.experts.features import Embeddings
from evaluator.experts.videoclip_xl import EXPERT, FILE
from evaluator.runtime.session import Array
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

EIGHT = Sampling("linspace", (8,))
WANT = ExpertNeed("video_embedding", ("source",), EIGHT)


def means(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    """Embedding that begins with the mean of each of the eight frames."""
    out = np.full((1, 768), 1.0, np.float32)
    out[0, :8] = feeds["frames"].mean(axis=(0, 2, 3, 4))
    return {"embedding": out}


def run(levels: list[int], session: FakeSession) -> Embeddings:
    data = np.array(levels, np.uint8)[:, None, None, None] * np.ones((1, 224, 224, 3), np.uint8)
    return EXPERT(FakeSource({FILE: session})).run(WANT, {"frames": frames_of(data)})


def test_eight_frames_of_the_asked_clip_squashed() -> None:
    need = EXPERT(FakeSource({})).needs(WANT)["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.role, need.view.sampling) == ("source", EIGHT)
    assert (need.view.fit, need.view.height, need.view.width) == (Fit.SQUASH, 224, 224)
    assert (need.view.filter, need.view.antialias) == (Filter.BICUBIC, True)


def test_frames_keep_their_order_and_come_with_imagenet_statistics() -> None:
    session = FakeSession(means, ["embedding"])
    found = run([0, 40, 80, 120, 160, 200, 240, 255], session)
    fed = session.fed[0]["frames"]
    assert (fed.shape, fed.dtype) == ((1, 8, 3, 224, 224), np.float32)
    np.testing.assert_allclose(fed[0, 0, :, 0, 0], [-2.1179, -2.0357, -1.8044], atol=1e-4)
    assert (np.diff(fed[0, :, 0, 0, 0]) > 0).all()
    assert found.vectors.shape == (1, 768)
    assert np.linalg.norm(found.vectors) == pytest.approx(1.0, abs=1e-6)


def test_a_short_clip_repeats_its_last_frame() -> None:
    session = FakeSession(means, ["embedding"])
    run([10, 90, 200], session)
    level = session.fed[0]["frames"][0, :, 0, 0, 0]
    assert len(set(level[2:].tolist())) == 1
    assert len(set(level.tolist())) == 3


def test_another_network_is_noticed() -> None:
    other = FakeSession(lambda feeds: {"embedding": np.zeros((1, 512), np.float32)}, ["embedding"])
    with pytest.raises(ExpertError, match="768"):
        run([1] * 8, other)
