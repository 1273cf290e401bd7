"""Decoded planes -> RGB at a size, as FFmpeg's command line does it: libavfilter's `scale`, bicubic.

The filter and not the bare scaler: it places chroma samples in the middle and takes interlaced pictures as progressive,
so the pixels are those of `ffmpeg -vf scale=W:H -pix_fmt rgb24`. Matrix and range are the frame's own, BT.601 limited
range if untagged. Knows nothing about views.

Half of the time goes into FFmpeg's plain C code that writes `rgb24`. Its vector code for `bgr24` and `rgba` rounds
otherwise: up to 16 levels away.
"""

from __future__ import annotations

import numpy as np
from av.filter import Graph
from av.video.frame import VideoFrame

from evaluator.media.types import U8


class Swscale:
    """One scaler to width x height RGB. Sets itself up again when the pictures of a stream change their format.

    `flags` is FFmpeg's name of the kernel: "bicubic" (its default) or "area".
    """

    def __init__(self, width: int, height: int, flags: str = "bicubic") -> None:
        self._size = (width, height)
        self._flags = flags
        self._source: tuple[int, int, str, int, int] | None = None
        self._graph = Graph()

    def __call__(self, frame: VideoFrame) -> U8:
        """[height, width, 3], valid as long as it is held. Raises av.error.FFmpegError for a format it cannot read."""
        source = (frame.width, frame.height, frame.format.name, frame.colorspace, frame.color_range)
        if source != self._source:
            self._graph, self._source = self._build(*source), source
        self._graph.vpush(frame)
        return _pixels(self._graph.vpull())

    def _build(self, width: int, height: int, pixels: str, matrix: int, colour_range: int) -> Graph:
        graph = Graph()
        graph.threads = 1
        tags = {"colorspace": str(matrix), "range": str(colour_range), "time_base": "1/1000"}
        chain = [
            graph.add("buffer", video_size=f"{width}x{height}", pix_fmt=pixels, **tags),
            graph.add("scale", "{}:{}:flags={}".format(*self._size, self._flags)),
            graph.add("format", "rgb24"),
            graph.add("buffersink"),
        ]
        graph.link_nodes(*chain).configure()
        return graph


def _pixels(frame: VideoFrame) -> U8:
    """[H, W, 3] of an RGB frame, not copied: the array keeps the frame alive."""
    plane = frame.planes[0]
    rows: U8 = np.frombuffer(memoryview(plane), np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : 3 * frame.width].reshape(plane.height, frame.width, 3)
