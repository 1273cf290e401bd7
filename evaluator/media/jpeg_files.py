"""Frames as they come back from JPEG files that FFmpeg's command line writes with its default settings.

AVE-Compass 4.3 (profile compat): the published lip-sync script turns a clip into such files before it looks at it. The
defaults are a rate control for 200 kbit/s, so that the quality of a frame depends on the frames before it and most are
coarse. The decoder's planes are widened to full range and keep their matrix, and a reader of JPEG takes them as BT.601:
colours of a clip with another matrix shift, as they do there. Only memory is written to.

Byte for byte the files are those of the FFmpeg inside PyAV; another version rounds chroma otherwise (0.5 of a level in
the planes). A variable frame rate is not made constant first, and a rotation comes after the coding and not before.
"""

from __future__ import annotations

from fractions import Fraction

import av
import cv2
import numpy as np
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType, VideoFrame
from av.video.reformatter import ColorRange

from evaluator.errors import MediaError
from evaluator.media.types import U8

FINEST = 1001 * 60
"""Largest denominator of a frame rate: 60000/1001 and all slower ones are exact."""
USUAL = Fraction(25)
"""Frames per second of a clip that has one frame, and so no rate."""
CHROMA = {"444": "yuvj444p", "422": "yuvj422p"}
"""Part of a pixel format's name -> what the encoder is given; everything else is subsampled both ways."""


class JpegFiles:
    """One clip's frames, through the encoder and back, in their order. `rate` is in frames per second."""

    def __init__(self, rate: float) -> None:
        self._rate = Fraction(rate).limit_denominator(FINEST) if rate > 0 else USUAL
        self._encoder: VideoCodecContext | None = None
        self._written = 0

    def __call__(self, frame: VideoFrame) -> U8:
        """[H, W, 3] RGB of the next frame. Raises MediaError `unsupported_picture` if no JPEG comes of it."""
        pixels = frame_format(frame.format.name, frame.format.is_rgb)
        if self._encoder is None:
            self._encoder = self._opened(frame, pixels)
        wide = frame.reformat(format=pixels, dst_color_range=ColorRange.JPEG)
        wide.pts, wide.time_base, wide.pict_type = self._written, 1 / self._rate, PictureType.NONE
        self._written += 1
        data = b"".join(bytes(packet) for packet in self._encoder.encode(wide))
        read = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR) if data else None
        if read is None:
            raise MediaError("unsupported_picture", f"frame {self._written - 1} cannot be written as a JPEG file")
        return np.asarray(read[..., ::-1], np.uint8)

    def _opened(self, frame: VideoFrame, pixels: str) -> VideoCodecContext:
        encoder = av.CodecContext.create("mjpeg", "w")
        assert isinstance(encoder, VideoCodecContext)  # noqa: S101  (mjpeg codes pictures)
        encoder.width, encoder.height, encoder.pix_fmt = frame.width, frame.height, pixels
        encoder.time_base, encoder.framerate = 1 / self._rate, self._rate
        encoder.thread_count = 1  # the rate control would count other frames with another number
        return encoder


def frame_format(name: str, is_rgb: bool) -> str:
    """The JPEG pixel format nearest to one of a decoder, as FFmpeg chooses it."""
    if is_rgb:
        return CHROMA["444"]
    return next((chosen for part, chosen in CHROMA.items() if part in name), "yuvj420p")
