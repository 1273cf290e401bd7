"""The contract of the DINOv2 expert, on a session without a network."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.errors import ExpertError
from evaluator.experts.dinov2 import BATCH, DIMENSIONS, EXPERT, SIZE
from evaluator.schema import ExpertNeed, Fit, FramesNeed, Sampling
from tests.experts.fakes import FakeSession, FakeSource
from tests.experts.pictures import frames_of

FRAMES = Sampling("linspace", (50,))
WANT = ExpertNeed("image_embedding", sampling=FRAMES)


def projection(dimensions: int = DIMENSIONS) -> FakeSession:
    """A random linear map of the mean colour, after a check of the input."""
    matrix = np.random.default_rng(0).standard_normal((3, dimensions)).astype(np.float32)
    return FakeSession(lambda feeds: {"embedding": feeds["pixels"].mean(axis=(2, 3)) @ matrix}, ["embedding"])


@pytest.mark.parametrize(
    ("options", "fit", "height"),
    [
        ((), Fit.SQUASH, 224),
        ((("preprocess", "squash224"),), Fit.SQUASH, 224),
        ((("preprocess", "hf_crop"),), Fit.SHORT_SIDE_CROP, 256),
    ],
)
def test_preprocessing_is_a_choice(options: tuple[tuple[str, str], ...], fit: Fit, height: int) -> None:
    need = EXPERT(FakeSource({})).needs(ExpertNeed("image_embedding", sampling=FRAMES, options=options))["frames"]
    assert isinstance(need, FramesNeed)
    assert (need.view.fit, need.view.height, need.view.width, need.view.sampling) == (fit, height, SIZE, FRAMES)
    assert need.view.antialias


def test_unknown_preprocessing_is_refused() -> None:
    with pytest.raises(ValueError, match="hf_crop"):
        EXPERT(FakeSource({})).needs(ExpertNeed("image_embedding", sampling=FRAMES, options=(("preprocess", "x"),)))


def test_imagenet_statistics_go_in_and_unit_vectors_come_out() -> None:
    session = projection()
    mean = np.round(255 * np.array([0.485, 0.456, 0.406])).astype(np.uint8)
    data = np.broadcast_to(np.stack([mean, mean + 58]).astype(np.uint8)[:, None, None], (2, SIZE, SIZE, 3))
    found = EXPERT(FakeSource({"dinov2.onnx": session})).run(WANT, {"frames": frames_of(np.array(data), [4, 9], 20)})
    pixels = session.fed[0]["pixels"]
    assert pixels.shape == (BATCH, 3, SIZE, SIZE)
    np.testing.assert_allclose(pixels[0], 0, atol=0.01)
    np.testing.assert_allclose(pixels[1].mean(axis=(1, 2)), 58 / 255 / np.array([0.229, 0.224, 0.225]), atol=0.01)
    assert found.vectors.shape == (2, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    assert found.index.tolist() == [4, 9]


def test_another_network_is_noticed() -> None:
    data = np.full((3, SIZE, SIZE, 3), 9, np.uint8)
    with pytest.raises(ExpertError, match="768"):
        EXPERT(FakeSource({"dinov2.onnx": projection(384)})).run(WANT, {"frames": frames_of(data)})
