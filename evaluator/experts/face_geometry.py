"""Plane geometry of faces: boxes and their overlap, square windows of a picture, the level crop, the open mouth.

Coordinates are continuous: pixel i covers [i, i + 1), so a picture of width W spans 0..W. Knows no network.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from evaluator.media.types import F32, U8

UPPER_LIP, LOWER_LIP = 13, 14
FOREHEAD, CHIN = 10, 152
"""Points of the 468-point MediaPipe face mesh: inner edges of the lips, top and bottom of the face oval."""


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """One detected face, in pixels of the picture that was searched. Equal only to itself."""

    box: F32  # [4] x1, y1, x2, y2
    eyes: F32  # [2, 2] the eye that is left in an upright picture, then the other; x, y
    score: float  # probability

    @property
    def area(self) -> float:
        """Square pixels."""
        return float((self.box[2] - self.box[0]) * (self.box[3] - self.box[1]))

    @property
    def side(self) -> float:
        """The longer side in pixels."""
        return float(max(self.box[2] - self.box[0], self.box[3] - self.box[1]))


def overlap(box: F32, boxes: F32) -> F32:
    """Intersection over union of one box [4] with many [N, 4]."""
    sides = np.minimum(box[2:], boxes[:, 2:]) - np.maximum(box[:2], boxes[:, :2])
    shared = np.clip(sides, 0, None).prod(axis=1)
    union = (box[2:] - box[:2]).prod() + (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) - shared
    ratio: F32 = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio


def centre(box: F32) -> F32:
    """Middle [2] of a box [4]."""
    middle: F32 = (box[:2] + box[2:]) / np.float32(2)
    return middle


@dataclass(frozen=True, slots=True)
class Window:
    """A square part of a picture, possibly reaching outside, where everything is black."""

    left: int
    top: int
    side: int

    @classmethod
    def around(cls, middle: F32, side: float) -> Window:
        """The square of whole pixels nearest to `side` around a point."""
        whole = max(1, round(side))
        return cls(round(float(middle[0]) - whole / 2), round(float(middle[1]) - whole / 2), whole)

    @classmethod
    def whole(cls, picture: U8) -> Window:
        """The smallest square that holds the picture, centred: cutting it letterboxes."""
        height, width = picture.shape[:2]
        side = max(height, width)
        return cls(-((side - width) // 2), -((side - height) // 2), side)

    def cut(self, picture: U8, size: int) -> U8:
        """The window of [H, W, 3] scaled to [size, size, 3]: area average when it shrinks, bilinear when it grows."""
        height, width = picture.shape[:2]
        canvas = np.zeros((self.side, self.side, 3), np.uint8)
        top, left = max(self.top, 0), max(self.left, 0)
        bottom, right = min(self.top + self.side, height), min(self.left + self.side, width)
        if bottom > top and right > left:
            inside = picture[top:bottom, left:right]
            canvas[top - self.top : bottom - self.top, left - self.left : right - self.left] = inside
        how = cv2.INTER_AREA if self.side > size else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(canvas, (size, size), interpolation=how), np.uint8)

    def to_picture(self, points: F32) -> F32:
        """Points [..., 2] given as fractions of the window, in pixels of the picture."""
        return points * np.float32(self.side) + np.array([self.left, self.top], np.float32)


def level_transform(face: Face, scale: float, size: int) -> F32:
    """Affine map [2, 3] from the picture to a square of `size` pixels around a face, turned so that the eyes are level.

    The square's side is `scale` times the longer side of the face box.
    """
    across = face.eyes[1] - face.eyes[0]
    turn = np.arctan2(across[1], across[0])
    zoom = size / (scale * face.side)
    linear = zoom * np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    shift = size / 2 - linear @ centre(face.box)
    return np.column_stack([linear, shift]).astype(np.float32)


def warp(picture: U8, transform: F32, size: int) -> U8:
    """[size, size, 3] of a picture under an affine map [2, 3] from the picture; black outside."""
    linear, shift = transform[:, :2], transform[:, 2]
    half = np.float32(0.5)  # OpenCV counts from the middle of the first pixel
    centred = np.column_stack([linear, shift + linear.sum(axis=1) * half - half])
    return np.asarray(cv2.warpAffine(picture, centred, (size, size), flags=cv2.INTER_LINEAR), np.uint8)


def mouth_opening(mesh: F32) -> float:
    """Distance of the inner lips over the height of the face, from mesh points [468, 3]; a turn changes nothing."""
    lips = np.linalg.norm(mesh[UPPER_LIP, :2] - mesh[LOWER_LIP, :2])
    height = np.linalg.norm(mesh[FOREHEAD, :2] - mesh[CHIN, :2])
    return float(lips / height) if height > 0 else float("nan")
