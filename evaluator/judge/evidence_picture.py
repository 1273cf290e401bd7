"""Pictures for a judge: reduced to a bound, cut out, put side by side, encoded. Pixels in, bytes out.

The same pixels give the same bytes on every machine with the same Pillow: no time, no comment and no thread order gets
into a file. Knows nothing about clips or questions.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

import numpy as np
from PIL import Image

from evaluator.media.types import U8

JPEG, PNG = "image/jpeg", "image/png"

JPEG_QUALITY = 95
"""With full colour resolution: what is lost stays below the noise of a clip, at an eighth of the bytes of a PNG."""

GUTTER = 8
"""Pixels of white between pictures that stand side by side."""

Box = tuple[float, float, float, float]
"""x1, y1, x2, y2 as fractions of the picture."""


def encode(picture: U8, mime: str) -> bytes:
    """A picture [H, W, 3 or 1] as a JPEG or PNG file."""
    image, buffer = Image.fromarray(rgb(picture)), io.BytesIO()
    if mime == JPEG:
        image.save(buffer, "JPEG", quality=JPEG_QUALITY, subsampling=0)
    elif mime == PNG:
        image.save(buffer, "PNG", compress_level=6)
    else:
        raise ValueError(f"{mime}: expected {JPEG} or {PNG}")
    return buffer.getvalue()


def rgb(picture: U8) -> U8:
    """[H, W, 3] of a colour or gray picture."""
    if picture.ndim != 3 or picture.shape[2] not in {1, 3}:
        raise ValueError(f"expected a picture [H, W, 3 or 1], found {picture.shape}")
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else picture


def bounded(picture: U8, side: int) -> U8:
    """The picture, reduced so that its longer side is at most `side` pixels; never enlarged."""
    height, width = picture.shape[:2]
    longer = max(height, width)
    if longer <= side:
        return picture
    return _resized(picture, max(1, width * side // longer), max(1, height * side // longer))


def cut_out(picture: U8, box: Box, margin: float = 0.0) -> U8:
    """The part of a picture inside `box`, widened by `margin` of the box's size on each side, whole pixels outwards.

    Raises ValueError for a box that is not finite, empty, or outside the picture.
    """
    x1, y1, x2, y2 = box
    if not (all(map(math.isfinite, box)) and 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1):
        raise ValueError(f"box {box}: expected 0 <= x1 < x2 <= 1 and 0 <= y1 < y2 <= 1")
    height, width = picture.shape[:2]
    left, right = _span(x1, x2, margin, width)
    top, bottom = _span(y1, y2, margin, height)
    return picture[top:bottom, left:right]


def side_by_side(pictures: Sequence[U8]) -> U8:
    """Pictures from left to right with a white gutter, each reduced to the height of the lowest: [H, W, 3]."""
    if not pictures:
        raise ValueError("a strip needs at least one picture")
    height = min(picture.shape[0] for picture in pictures)
    gutter: U8 = np.full((height, GUTTER, 3), 255, np.uint8)
    row: list[U8] = []
    for picture in pictures:
        row += [gutter, _to_height(rgb(picture), height)]
    return np.concatenate(row[1:], axis=1)


def _span(low: float, high: float, margin: float, size: int) -> tuple[int, int]:
    extra = margin * (high - low)
    return max(0, math.floor((low - extra) * size)), min(size, math.ceil((high + extra) * size))


def _to_height(picture: U8, height: int) -> U8:
    rows, columns = picture.shape[:2]
    return picture if rows == height else _resized(picture, max(1, round(columns * height / rows)), height)


def _resized(picture: U8, width: int, height: int) -> U8:
    return np.asarray(Image.fromarray(rgb(picture)).resize((width, height), Image.Resampling.BICUBIC))
