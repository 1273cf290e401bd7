"""Where S3FD looks for faces: one square anchor per cell of six maps (Zhang et al., ICCV 2017).

The maps have strides of 4 to 128 pixels; an anchor is four strides wide. Pure numpy, no network.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from evaluator.media.types import F32, F64

STRIDES = (4, 8, 16, 32, 64, 128)
"""Pixels between the anchors of a map."""
ANCHOR = 4
"""Side of an anchor in strides of its map: 16 to 512 pixels."""
LEAST_SIDE = 32
"""Pixels of a picture's side below which the fourth map is empty."""
CENTRE, SPREAD = 0.1, 0.2
"""What an offset of one moves: a tenth of the anchor's side; the natural logarithm of its size by a fifth."""


def map_sizes(height: int, width: int) -> list[tuple[int, int]]:
    """(rows, columns) of the six maps for a picture of these sides."""
    return list(zip(_sides(height), _sides(width), strict=True))


def _sides(side: int) -> list[int]:
    """A side after two poolings, one rounded up, two rounded down, and two strided convolutions."""
    first = side // 2 // 2
    second = -(-first // 2)
    third = second // 2
    fourth = third // 2
    fifth = -(-fourth // 2)
    return [first, second, third, fourth, fifth, -(-fifth // 2)]


@lru_cache(maxsize=8)
def anchors(height: int, width: int) -> F64:
    """[A, 3] centre x, centre y and side in pixels: maps from fine to coarse, in each by rows. Do not write to it."""
    found = []
    for stride, (rows, columns) in zip(STRIDES, map_sizes(height, width), strict=True):
        y, x = np.mgrid[:rows, :columns]
        places = (np.stack([x.ravel(), y.ravel()], axis=1) + 0.5) * stride
        found.append(np.column_stack([places, np.full(len(places), float(ANCHOR * stride))]))
    return np.concatenate(found)


def boxes_of(offsets: F32, anchor: F64) -> F64:
    """Boxes [A, 4] x1, y1, x2, y2 in pixels of offsets [A, 4] to anchors [A, 3]."""
    middle = anchor[:, :2] + offsets[:, :2] * CENTRE * anchor[:, 2:]
    size = anchor[:, 2:] * np.exp(offsets[:, 2:].astype(np.float64) * SPREAD)
    return np.concatenate([middle - size / 2, middle + size / 2], axis=1)
