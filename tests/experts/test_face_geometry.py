"""Boxes, windows and crops against pictures painted pixel by pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from evaluator.experts.face_geometry import (
    CHIN,
    FOREHEAD,
    LOWER_LIP,
    UPPER_LIP,
    Face,
    Window,
    level_transform,
    mouth_opening,
    overlap,
    warp,
)
from evaluator.media.types import F32

corners = st.integers(0, 30)
sizes = st.integers(1, 20)


def painted(box: F32) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """A 60 x 60 mask with the box filled."""
    mask = np.zeros((60, 60), bool)
    x1, y1, x2, y2 = box.astype(int)
    mask[y1:y2, x1:x2] = True
    return mask


@given(st.lists(st.tuples(corners, corners, sizes, sizes), min_size=2, max_size=6))
def test_overlap_counts_pixels(places: list[tuple[int, int, int, int]]) -> None:
    boxes = np.array([[x, y, x + w, y + h] for x, y, w, h in places], np.float32)
    masks = [painted(box) for box in boxes]
    expected = [(masks[0] & mask).sum() / (masks[0] | mask).sum() for mask in masks]
    np.testing.assert_allclose(overlap(boxes[0], boxes), expected, rtol=1e-6)


def test_boxes_without_area_overlap_nothing() -> None:
    empty = np.array([3, 3, 3, 3], np.float32)
    assert overlap(empty, empty[None]).tolist() == [0]


@pytest.mark.parametrize(("height", "width"), [(40, 60), (60, 40), (41, 60), (50, 50)])
def test_the_whole_window_letterboxes(height: int, width: int) -> None:
    picture = np.random.default_rng(0).integers(1, 256, (height, width, 3), dtype=np.uint8)
    window = Window.whole(picture)
    side = max(height, width)
    cut = window.cut(picture, side)
    canvas = Image.new("RGB", (side, side))
    canvas.paste(Image.fromarray(picture), ((side - width) // 2, (side - height) // 2))
    np.testing.assert_array_equal(cut, np.asarray(canvas))


def test_a_window_shrinks_by_area_and_is_black_outside() -> None:
    picture = np.random.default_rng(0).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    cut = Window(left=-8, top=-4, side=24).cut(picture, 6)
    canvas = np.zeros((24, 24, 3))
    canvas[4:, 8:] = picture[:20, :16]
    expected = canvas.reshape(6, 4, 6, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(cut, expected, atol=0.51)
    assert Window(left=100, top=100, side=10).cut(picture, 5).max() == 0


@given(st.floats(-50, 250), st.floats(-50, 250), st.floats(1, 200))
def test_a_window_surrounds_its_middle_and_gives_points_back(x: float, y: float, side: float) -> None:
    window = Window.around(np.array([x, y], np.float32), side)
    back = window.to_picture(np.array([[0, 0], [0.5, 0.5], [1, 1]], np.float32))
    np.testing.assert_allclose(back[0], [window.left, window.top], atol=1e-3)
    np.testing.assert_allclose(back[1], [x, y], atol=1.01)
    np.testing.assert_allclose(back[2] - back[0], window.side, atol=1e-3)
    assert abs(window.side - side) <= 0.51


def tilted(angle: float) -> Face:
    """A face of 40 pixels around (100, 80) whose eyes are 20 pixels apart and turned by `angle`."""
    across = 10 * np.array([np.cos(angle), np.sin(angle)])
    above = 5 * np.array([np.sin(angle), -np.cos(angle)])
    middle = np.array([100, 80]) + above
    box = np.array([80, 60, 120, 100], np.float32)
    return Face(box, np.array([middle - across, middle + across], np.float32), 0.9)


@pytest.mark.parametrize("angle", [0.0, 0.4, -1.1, 2.5, np.pi])
def test_the_crop_is_level_centred_and_scaled(angle: float) -> None:
    face = tilted(angle)
    transform = level_transform(face, scale=1.5, size=192)
    zoom = 192 / 60
    eyes = face.eyes @ transform[:, :2].T + transform[:, 2]
    expected = [[96 - 10 * zoom, 96 - 5 * zoom], [96 + 10 * zoom, 96 - 5 * zoom]]
    np.testing.assert_allclose(eyes, expected, atol=1e-3)


@pytest.mark.parametrize("angle", [0.0, 0.4, -1.1])
def test_warped_pixels_are_where_the_transform_says(angle: float) -> None:
    face = tilted(angle)
    picture = np.zeros((160, 200, 3), np.uint8)
    for x, y in face.eyes:
        picture[int(y) - 1 : int(y) + 2, int(x) - 1 : int(x) + 2] = 255
    centre = np.floor(face.eyes) + 0.5  # the middle of each painted block
    transform = level_transform(face, scale=1.5, size=192)
    crop = warp(picture, transform, 192)[..., 0].astype(float)
    for side, expected in zip((crop[:, :96], crop[:, 96:]), centre @ transform[:, :2].T + transform[:, 2], strict=True):
        y, x = np.mgrid[: side.shape[0], : side.shape[1]] + 0.5
        x += 0 if side.base is not None and expected[0] < 96 else 96
        found = (x * side).sum() / side.sum(), (y * side).sum() / side.sum()
        np.testing.assert_allclose(found, expected, atol=0.1)


@given(st.floats(0, 6.3), st.floats(0.1, 10), st.floats(-100, 100), st.floats(0, 0.5))
def test_mouth_opening_does_not_care_where_how_large_and_how_turned(
    angle: float, scale: float, shift: float, opening: float
) -> None:
    mesh = np.zeros((468, 3))
    mesh[FOREHEAD], mesh[CHIN] = [0, -60, 7], [0, 40, -3]
    mesh[UPPER_LIP], mesh[LOWER_LIP] = [2, 20, 5], [2, 20 + 100 * opening, 9]
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    mesh[:, :2] = scale * mesh[:, :2] @ turn.T + shift
    assert mouth_opening(mesh.astype(np.float32)) == pytest.approx(opening, abs=1e-4)


def test_a_face_without_height_has_no_opening() -> None:
    assert np.isnan(mouth_opening(np.zeros((468, 3), np.float32)))
