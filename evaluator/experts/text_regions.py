"""From a probability map of text to quadrilaterals: the box formation of Differentiable Binarization.

Liao et al., "Real-time Scene Text Detection with Differentiable Binarization", AAAI 2020, section 3.6, with PP-OCR's
thresholds and its rotated rectangles: binarise, take each connected region's smallest rotated rectangle, keep it if the
map is high enough inside, and grow it again by what training shrank it. A rectangle grown by rounded corners has a
rectangle as its smallest box, so no polygon library is needed. Knows nothing about networks and pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np

from evaluator.media.types import F32, U8

THRESHOLD = 0.3
"""Of a pixel."""
LEAST_MEAN = 0.5
"""Of the map inside a rectangle."""
GROWTH = 1.6
"""Grown on each side by area x GROWTH / perimeter: the reverse of the shrinking in training (Vatti clipping)."""
THINNEST = 3.0
"""Pixels of the map. A region whose rectangle is thinner is no line of text."""
CANDIDATES = 1000
"""Most regions of one map, the largest ones: a picture of noise takes bounded time."""

_CLOSE = np.ones((2, 2), np.uint8)  # joins strokes that touch at corners only

Rectangle = tuple[Sequence[float], Sequence[float], float]
"""OpenCV's: (centre), (width, height), angle in degrees."""


def regions(probability: F32) -> tuple[F32, F32]:
    """(corners [K, 4, 2] in pixels x, y of the map, clockwise from the top left; mean probability inside [K]).

    probability: [H, W], 0..1. Largest regions first; corners may lie a little outside the map.
    """
    mask = cv2.dilate((probability > THRESHOLD).astype(np.uint8), _CLOSE)
    contours, _ = cv2.findContours(mask, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    largest = sorted(contours, key=cv2.contourArea, reverse=True)[:CANDIDATES]
    found = [one for contour in largest if (one := _region(probability, contour)) is not None]
    corners = np.array([quad for quad, _ in found], np.float32).reshape(-1, 4, 2)
    return corners, np.array([mean for _, mean in found], np.float32)


def _region(probability: F32, contour: Any) -> tuple[F32, float] | None:
    """Corners [4, 2] and mean of one region; None if it is too thin or too faint."""
    rectangle: Rectangle = cv2.minAreaRect(contour)
    if min(rectangle[1]) < THINNEST:
        return None
    mean = mean_inside(probability, corners_of(rectangle))
    return (corners_of(grown(rectangle)), mean) if mean >= LEAST_MEAN else None


def corners_of(rectangle: Rectangle) -> F32:
    """[4, 2], clockwise from the top left."""
    return clockwise(np.asarray(cv2.boxPoints(rectangle), np.float32))


def grown(rectangle: Rectangle) -> Rectangle:
    """The rectangle with each side moved outwards by area x GROWTH / perimeter."""
    centre, (width, height), angle = rectangle
    margin = width * height * GROWTH / (2.0 * (width + height))
    return centre, (width + 2.0 * margin, height + 2.0 * margin), angle


def mean_inside(probability: F32, corners: F32) -> float:
    """Mean of the map [H, W] over the pixels of a quadrilateral [4, 2]."""
    height, width = probability.shape
    low = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)), 0, (width - 1, height - 1)).astype(int)
    window = probability[low[1] : high[1] + 1, low[0] : high[0] + 1]
    inside: U8 = np.zeros(window.shape, np.uint8)
    cv2.fillPoly(inside, [(corners - low).astype(np.int32)], 1)
    return float(window[inside > 0].mean()) if inside.any() else 0.0


def clockwise(points: F32) -> F32:
    """Corners [4, 2] in the order top left, top right, bottom right, bottom left, by the two that are furthest left."""
    across = points[np.argsort(points[:, 0], kind="stable")]
    (top, bottom), (upper, lower) = (side[np.argsort(side[:, 1], kind="stable")] for side in (across[:2], across[2:]))
    return np.array([top, upper, lower, bottom], np.float32)


def reading_order(corners: F32) -> list[int]:
    """Places of quadrilaterals [K, 4, 2] line by line from the top, each line from the left.

    Two are on one line if the upper edge of one begins within half the other's height of where the line begins.
    """
    top, left = corners[:, 0, 1], corners[:, 0, 0]
    tall = corners[:, 3, 1] - top
    lines: list[list[int]] = []
    for place in np.argsort(top, kind="stable").tolist():
        same = lines and top[place] - top[lines[-1][0]] < 0.5 * max(tall[place], tall[lines[-1][0]])
        lines[-1].append(place) if same else lines.append([place])
    return [place for line in lines for place in sorted(line, key=lambda one: (left[one], one))]
