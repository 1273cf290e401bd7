"""The scaler against FFmpeg's bare one, and the area kernel against OpenCV's."""

from __future__ import annotations

import itertools

import av
import cv2
import numpy as np
import pytest
from av.error import FFmpegError

from evaluator.media.swscale import Swscale

TAGS = list(itertools.product((1, 2, 5, 7, 9), (0, 1, 2)))
"""FFmpeg's colour matrices (BT.709, untagged, BT.601, SMPTE 240M, BT.2020) and ranges (none, limited, full)."""


def random_frame(pixels: str, width: int, height: int, matrix: int = 2, colour_range: int = 0) -> av.VideoFrame:
    draw = np.random.default_rng(width + matrix)
    frame = av.VideoFrame(width, height, pixels)
    for plane in frame.planes:
        plane.update(draw.integers(0, 256, plane.buffer_size, dtype=np.uint8).tobytes())
    frame.colorspace, frame.color_range = matrix, colour_range
    return frame


@pytest.mark.parametrize(("matrix", "colour_range"), TAGS)
@pytest.mark.parametrize("pixels", ["yuv420p", "yuvj420p"])
def test_without_a_change_of_size_the_pixels_are_the_bare_scalers(pixels: str, matrix: int, colour_range: int) -> None:
    frame = random_frame(pixels, 322, 182, matrix, colour_range)
    assert np.array_equal(Swscale(322, 182)(frame), frame.reformat(format="rgb24").to_ndarray())


@pytest.mark.parametrize("matrix", [3, 8])
def test_a_matrix_that_ffmpeg_cannot_convert_is_an_error(matrix: int) -> None:
    with pytest.raises(FFmpegError):
        Swscale(320, 180)(random_frame("yuv420p", 320, 180, matrix))


def test_pixels_outlive_the_frame_and_the_scaler() -> None:
    frame = random_frame("yuv420p", 320, 180)
    scaler = Swscale(320, 180)
    held = scaler(frame)
    copy = held.copy()
    for matrix, colour_range in TAGS:
        scaler(random_frame("yuv420p", 320, 180, matrix, colour_range))
    del frame, scaler
    assert np.array_equal(held, copy)


def test_the_area_kernel_averages() -> None:
    y, x = np.mgrid[0:180, 0:320]
    rgb = np.stack([x * 255 // 319, y * 255 // 179, (x + y) * 255 // 498], axis=-1).astype(np.uint8)
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24").reformat(format="yuv444p")
    full = Swscale(320, 180)(frame)
    found = Swscale(80, 45, "area")(frame)
    expected = cv2.resize(full, (80, 45), interpolation=cv2.INTER_AREA)
    assert np.abs(found.astype(int) - expected).max() <= 3
