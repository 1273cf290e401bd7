"""Cuts between shots by how much the colours change from one frame to the next: the content rule of PySceneDetect.

The mean change of hue, saturation and value (OpenCV's 8-bit HSV, picture 256 pixels wide) is 27 or more, and the last
cut is 15 frames back or more. SyncNet's face pipeline splits clips so. Knows one frame at a time; gradual transitions
go unnoticed, as they do there.
"""

from __future__ import annotations

import cv2
import numpy as np

from evaluator.media.types import U8

THRESHOLD = 27.0
LEAST_SHOT = 15  # frames
WIDTH = 256  # pixels, if the picture has as many


class ContentCuts:
    """Asked about every frame of a clip in order."""

    def __init__(self) -> None:
        self._before: U8 | None = None
        self._since = 0  # frames from the last cut, or from the first frame

    def begins_shot(self, picture: U8) -> bool:
        """Whether a shot begins with this frame [H, W, 3] RGB; the first frame of a clip follows no cut."""
        now, before = _hsv(picture), self._before
        self._before = now
        if before is None:
            return False
        self._since += 1
        changed = float(np.abs(now.astype(np.int16) - before).mean(axis=(0, 1)).mean())
        if changed < THRESHOLD or self._since < LEAST_SHOT:
            return False
        self._since = 0
        return True


def _hsv(picture: U8) -> U8:
    height, width = picture.shape[:2]
    if width > WIDTH:
        picture = np.asarray(cv2.resize(picture, (WIDTH, round(height * WIDTH / width))), np.uint8)
    return np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2HSV), np.uint8)
