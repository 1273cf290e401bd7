"""The MTCNN cascade: its arithmetic against loops, and the real networks on a small face."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.experts.face_geometry import overlap
from evaluator.experts.mtcnn import (
    LEAST_FACE,
    ONET_BATCH,
    PROPOSALS,
    RNET_BATCH,
    Mtcnn,
    corrected,
    landmarks,
    pyramid,
    square,
    suppress,
)
from evaluator.runtime.session import Array, SessionSource
from evaluator.schema import ALL_FRAMES, View
from tests.experts.fakes import FakeSession
from tests.experts.pictures import view_of


@given(st.integers(0, 2**32 - 1), st.integers(0, 30), st.sampled_from([0.3, 0.5, 0.7]))
def test_suppression_keeps_the_best_of_each_crowd(seed: int, count: int, limit: float) -> None:
    rng = np.random.default_rng(seed)
    corner = 50 * rng.random((count, 2))
    boxes = np.column_stack([corner, corner + 5 + 30 * rng.random((count, 2))]).astype(np.float32)
    scores = rng.permutation(np.linspace(0.5, 1, count)).astype(np.float32)
    kept: list[int] = []
    for k in sorted(range(count), key=lambda k: -scores[k]):
        if all(overlap(boxes[k], boxes[j][None])[0] <= limit for j in kept):
            kept.append(k)
    assert suppress(boxes, scores, limit) == kept


def test_the_pyramid_halves_pixels_until_a_face_would_not_fit() -> None:
    scales = list(pyramid(360, 640))
    assert scales[0] == 12 / LEAST_FACE
    np.testing.assert_allclose(np.divide(scales[1:], scales[:-1]) ** 2, 0.5, atol=0.01)
    assert 360 * scales[-1] >= 12 > 360 * scales[-1] * 0.709
    assert list(pyramid(LEAST_FACE - 1, 500)) == []


def test_boxes_are_corrected_and_squared() -> None:
    boxes = np.array([[10, 20, 30, 60]], np.float32)
    np.testing.assert_allclose(corrected(boxes, np.array([[0.1, -0.1, 0.5, 0.25]])), [[12, 16, 40, 70]])
    np.testing.assert_allclose(square(boxes), [[0, 20, 40, 60]])
    fractions = np.array([[0, 1, 0.5, 0, 1, 0, 0, 0.5, 1, 1]], np.float32)
    np.testing.assert_allclose(landmarks(boxes, fractions)[0], [[10, 20], [30, 20], [20, 40], [10, 60], [30, 60]])


def everywhere(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
    """A proposal net that believes in every cell."""
    rows, columns = ((side - 2) // 2 - 4 for side in feeds["pixels"].shape[2:])
    return {"offsets": np.zeros((1, 4, rows, columns)), "probability": np.ones((1, 2, rows, columns))}


def test_a_picture_full_of_proposals_costs_no_more() -> None:
    none = {"offsets": np.zeros((RNET_BATCH, 4)), "probability": np.zeros((RNET_BATCH, 2))}
    rnet = FakeSession(lambda feeds: none, ["offsets", "probability"])
    onet = FakeSession(lambda feeds: {}, [])
    assert Mtcnn(FakeSession(everywhere), rnet, onet).find(np.zeros((90, 160, 3), np.uint8)) == []
    assert len(rnet.fed) == PROPOSALS // RNET_BATCH
    assert {feeds["pixels"].shape for feeds in rnet.fed} == {(RNET_BATCH, 3, 24, 24)}
    assert onet.fed == []


def test_a_face_passes_all_three_nets_where_it_is() -> None:
    """Each net answers by the brightness of what it sees; only one block of the picture is bright."""
    picture = np.zeros((90, 160, 3), np.uint8)
    picture[30:70, 100:140] = 255

    def pnet(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        light = feeds["pixels"][0, 0]
        windows = np.lib.stride_tricks.sliding_window_view(light, (12, 12))[::2, ::2].mean(axis=(2, 3))
        bright = (windows > 0.9).astype(np.float32)[None]
        return {"offsets": np.zeros((1, 4, *windows.shape)), "probability": np.stack([1 - bright, bright], axis=1)}

    def net(size: int) -> FakeSession:
        def respond(feeds: Mapping[str, Array]) -> Mapping[str, Array]:
            bright = (feeds["pixels"].mean(axis=(1, 2, 3)) > 0.9).astype(np.float32)
            eyes = np.tile(np.array([0.3, 0.7, 0.5, 0.3, 0.7, 0.4, 0.4, 0.6, 0.8, 0.8], np.float32), (size, 1))
            probability = np.stack([1 - bright, bright], axis=1)
            return {"offsets": np.zeros((size, 4)), "probability": probability, "landmarks": eyes}

        return FakeSession(respond, ["offsets", "probability", "landmarks"])

    faces = Mtcnn(FakeSession(pnet), net(RNET_BATCH), net(ONET_BATCH)).find(picture)
    assert faces
    for face in faces:
        assert overlap(face.box, np.array([[100, 30, 140, 70]], np.float32))[0] > 0.1
        assert face.box[0] >= 98
        assert face.box[3] <= 72
        side = face.box[2] - face.box[0]
        np.testing.assert_allclose(face.eyes[0], face.box[:2] + side * np.array([0.3, 0.4]), atol=1e-3)


@pytest.mark.parametrize("width", [30, 60, 150])
def test_the_face_of_carphone_is_found_at_any_size(clips: Path, models: SessionSource, width: int) -> None:
    frame = view_of(clips / "carphone_pristine.mp4", View(ALL_FRAMES)).data[0]  # the face spans x 63..111, y 36..96
    zoom = width / 48
    inset = cv2.resize(frame, None, fx=zoom, fy=zoom, interpolation=cv2.INTER_AREA if zoom < 1 else cv2.INTER_CUBIC)
    picture = np.full((480, 640, 3), 90, np.uint8)
    picture[-inset.shape[0] :, -inset.shape[1] :] = inset
    sessions = [models.session("blazeface", f"{name}.onnx") for name in ("pnet", "rnet", "onet")]
    best = Mtcnn(*sessions).find(picture)[0]
    corner = np.array([640 - inset.shape[1], 480 - inset.shape[0]] * 2)
    expected = corner + zoom * np.array([63, 36, 111, 96])
    assert overlap(best.box, expected.astype(np.float32)[None])[0] > 0.75
    np.testing.assert_allclose(best.eyes, corner[:2] + zoom * np.array([[77, 61], [98, 56]]), atol=max(2, 3 * zoom))
    assert best.score > 0.95
