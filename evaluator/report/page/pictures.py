"""Pictures inside the page: small JPEGs as data addresses, each once, until a budget of bytes is used up.

Knows arrays and bytes; what a picture shows is the caller's.
"""

from __future__ import annotations

import base64
import hashlib
import io

import numpy as np
from PIL import Image, UnidentifiedImageError

from evaluator.media.types import U8

SIDE = 200
"""Pixels of the longer side, at most."""
QUALITY = 70
PICTURE_BYTES = 8 << 20
"""All pictures of a page together."""


class Album:
    """Pictures by name. `full` once one did not fit any more; from then on nothing is taken."""

    def __init__(self, budget: int = PICTURE_BYTES) -> None:
        self.pictures: dict[str, str] = {}  # name -> data address
        self.full = False
        self._left = budget

    def add_array(self, picture: U8) -> str | None:
        """The name of a picture [H, W, 3]; None if it did not fit."""
        return self._add(_jpeg(Image.fromarray(picture)))

    def add_file(self, data: bytes) -> str | None:
        """The same for the bytes of a picture file. Raises ValueError if they are none."""
        try:
            with Image.open(io.BytesIO(data)) as picture:
                return self._add(_jpeg(picture.convert("RGB")))
        except (UnidentifiedImageError, OSError) as error:
            raise ValueError(f"not a picture: {error}") from error

    def _add(self, jpeg: bytes) -> str | None:
        name = hashlib.sha256(jpeg).hexdigest()[:12]
        if name in self.pictures:
            return name
        address = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
        if self.full or len(address) > self._left:
            self.full = True
            return None
        self._left -= len(address)
        self.pictures[name] = address
        return name


def _jpeg(picture: Image.Image) -> bytes:
    small = picture.copy()
    small.thumbnail((SIDE, SIDE), Image.Resampling.BILINEAR, reducing_gap=2.0)
    buffer = io.BytesIO()
    Image.fromarray(np.asarray(small)).save(buffer, "JPEG", quality=QUALITY)  # without whatever a file said of itself
    return buffer.getvalue()
