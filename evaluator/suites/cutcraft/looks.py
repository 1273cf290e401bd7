"""What a frame looks like, in figures that motion changes little: colours, luminance, contrast, a coarse grid.

One small view of every frame feeds everything that the profile `paper` says about transitions, so nothing is decoded
for them again. Plain numpy; knows no transition.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from evaluator.media.types import F32, F64, U8, Frames
from evaluator.schema import ALL_FRAMES, Filter, Fit, View

PICTURES = View(ALL_FRAMES, Fit.SQUASH, 45, 80, Filter.FFMPEG_AREA)
"""Every frame, small: 11 kB each."""

BINS = 6
"""Levels per channel of a colour histogram; a level belongs to its two nearest bins, so that light may drift."""

ROWS, COLUMNS = 18, 32
"""Grid of coarse colours."""

LAYOUT = 60.0
"""Mean difference of coarse colours, in levels, that weighs as much as a histogram distance of 1: the spec's 20 levels
for "another picture" are then 0.33."""

LUMA = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True, slots=True)
class Looks:
    """Figures of every frame of a clip."""

    histogram: F32  # [N, BINS ** 3], each sums to 1
    grid: F32  # [N, ROWS * COLUMNS, 3] mean colours, 0..255
    luma: F64  # [N] mean, 0..255
    contrast: F64  # [N] standard deviation over the picture, mean of the channels
    time: F64  # [N] seconds
    rate: float  # frames per second

    def frames(self, seconds: float) -> int:
        """A length in whole frames, at least one."""
        return max(1, round(seconds * self.rate))

    def before(self, frame: int, seconds: float) -> slice:
        """The frames that end just before `frame`; at least one as long as there is one."""
        return slice(max(0, frame - self.frames(seconds)), max(frame, 1))

    def after(self, frame: int, seconds: float) -> slice:
        """The frames that begin just after `frame`."""
        last = len(self.time) - 1
        return slice(min(frame + 1, last), min(frame + 1 + self.frames(seconds), last + 1))

    def change(self, first: int, last: int, seconds: float) -> float:
        """How unlike the frames before `first` and after `last` are: 0 (same) to 2 (no colour in common).

        The larger of two distances of the sides' means: L1 of the histograms, and of the coarse colours in LAYOUT
        levels, for two shots may share their colours and not their places.
        """
        before, after = self.before(first, seconds), self.after(last, seconds)
        colours = np.abs(self.histogram[before].mean(axis=0) - self.histogram[after].mean(axis=0)).sum()
        places = np.abs(self.grid[before].mean(axis=0) - self.grid[after].mean(axis=0)).mean()
        return float(max(colours, places / LAYOUT))

    def returns(self, first: int, last: int, seconds: float) -> float:
        """How unlike the most alike histograms before and after are, within `seconds`: 0 if a scene returns."""
        before, after = self.histogram[self.before(first, seconds)], self.histogram[self.after(last, seconds)]
        return min(float(np.abs(after - one).sum(axis=1).min()) for one in before)


def looks(pictures: Frames) -> Looks:
    """Figures of the frames of the view PICTURES (any small RGB view of all frames will do)."""
    data, time = pictures.data, pictures.time
    length = float(time[-1] - time[0])
    return Looks(
        histogram=np.stack([colour_histogram(frame) for frame in data]),
        grid=np.stack([_coarse(frame) for frame in data]),
        luma=data.mean(axis=(1, 2)) @ LUMA,
        contrast=np.array([frame.std(axis=(0, 1)).mean() for frame in data]),
        time=time,
        rate=(len(time) - 1) / length if length > 0 else 1.0,
    )


def colour_histogram(picture: U8) -> F32:
    """Soft joint histogram [BINS ** 3] of an RGB picture [H, W, 3]: each pixel is shared by the eight nearest bins."""
    place = picture.reshape(-1, 3).astype(np.float32) * np.float32((BINS - 1) / 255.0)
    low = np.minimum(place.astype(np.int64), BINS - 2)
    high_share = place - low
    found = np.zeros(BINS**3)
    for corner in range(8):
        bits = np.array([corner >> 2 & 1, corner >> 1 & 1, corner & 1])
        bins = (low + bits) @ np.array([BINS * BINS, BINS, 1])
        share = np.where(bits, high_share, 1 - high_share).prod(axis=1)
        found += np.bincount(bins, share, BINS**3)
    return (found / len(place)).astype(np.float32)


def _coarse(picture: U8) -> F32:
    small = cv2.resize(picture, (COLUMNS, ROWS), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32).reshape(-1, 3)
