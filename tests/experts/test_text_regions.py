"""Box formation on maps that are drawn here: corners are known, so nothing is compared with itself."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from evaluator.experts.text_regions import GROWTH, clockwise, grown, mean_inside, reading_order, regions

H, W = 120, 200


def drawn(*rectangles: tuple[tuple[float, float], tuple[float, float], float], share: float = 0.9) -> np.ndarray:
    """A map [H, W] with filled rotated rectangles: (centre, size, degrees)."""
    canvas = np.zeros((H, W), np.float32)
    for rectangle in rectangles:
        cv2.fillPoly(canvas, [np.rint(cv2.boxPoints(rectangle)).astype(np.int32)], share)
    return canvas


def sides(corners: np.ndarray) -> tuple[float, float]:
    """Lengths of the upper and the left side."""
    return float(np.linalg.norm(corners[1] - corners[0])), float(np.linalg.norm(corners[3] - corners[0]))


@pytest.mark.parametrize("angle", [0.0, 7.0, -20.0])
def test_a_drawn_rectangle_comes_back_grown(angle: float) -> None:
    """Grown on each side by area / perimeter x 1.6, about its own centre, as turned as it was."""
    (corners,), (mean,) = regions(drawn(((100.0, 60.0), (80.0, 16.0), angle)))
    margin = GROWTH * 80 * 16 / (2 * (80 + 16))
    assert corners.mean(axis=0) == pytest.approx((100, 60), abs=1.0)
    pixel = 6.0  # drawing fills the pixels that an edge crosses, joining strokes adds one, and growing enlarges both
    assert sides(corners) == pytest.approx((80 + 2 * margin, 16 + 2 * margin), abs=pixel)
    turned = np.degrees(np.arctan2(*(corners[1] - corners[0])[::-1]))
    assert turned == pytest.approx(angle, abs=1.5)
    assert mean == pytest.approx(0.9, abs=0.15)  # the rim of what was dilated is outside what was drawn


def test_growing_is_that_of_a_polygon_with_round_corners() -> None:
    """All points within the margin of the rectangle: the smallest box around them is the grown rectangle."""
    rectangle = ((0.0, 0.0), (50.0, 10.0), 0.0)
    margin = GROWTH * 500 / 120
    turn = np.linspace(0, 2 * np.pi, 400)
    circle = margin * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    rounded = np.concatenate([corner + circle for corner in cv2.boxPoints(rectangle)]).astype(np.float32)
    (_, size, _), (_, wanted, _) = cv2.minAreaRect(rounded), grown(rectangle)
    assert sorted(size) == pytest.approx(sorted(wanted), abs=0.01)


def test_faint_thin_and_empty_regions_are_no_text() -> None:
    assert len(regions(np.zeros((H, W), np.float32))[0]) == 0
    assert len(regions(drawn(((100.0, 60.0), (80.0, 16.0), 0.0), share=0.4))[0]) == 0
    assert len(regions(drawn(((100.0, 60.0), (80.0, 0.0), 0.0)))[0]) == 0
    assert regions(np.zeros((H, W), np.float32))[0].shape == (0, 4, 2)


def test_every_region_is_found_largest_first() -> None:
    corners, _ = regions(drawn(((50.0, 30.0), (40.0, 10.0), 0.0), ((140.0, 80.0), (90.0, 12.0), 0.0)))
    assert [round(float(quad[:, 0].mean())) for quad in corners] == [140, 50]


def test_a_map_of_noise_ends() -> None:
    noise = np.random.default_rng(0).random((736, 1312), np.float32)
    corners, means = regions(noise)
    assert len(corners) == len(means) <= 1000


def test_mean_inside_is_that_of_a_mask() -> None:
    field = np.random.default_rng(1).random((H, W), np.float32)
    corners = np.array([[20, 30], [60, 30], [60, 50], [20, 50]], np.float32)
    assert mean_inside(field, corners) == pytest.approx(float(field[30:51, 20:61].mean()), abs=1e-6)
    assert mean_inside(field, corners + 1000) == pytest.approx(0.0)


def test_corners_are_in_order_whatever_they_come_in() -> None:
    wanted = np.array([[10, 12], [90, 10], [92, 40], [12, 42]], np.float32)
    for order in ([0, 1, 2, 3], [3, 0, 2, 1], [2, 3, 1, 0]):
        assert clockwise(wanted[order]).tolist() == wanted.tolist()


def test_lines_are_read_from_the_top_and_each_from_the_left() -> None:
    quad = np.array([[0, 0], [30, 0], [30, 10], [0, 10]], np.float32)
    placed = np.stack([quad + move for move in ((50, 40), (60, 3), (0, 0), (0, 41))])
    assert reading_order(placed) == [2, 1, 3, 0]
    assert reading_order(placed[:0]) == []
