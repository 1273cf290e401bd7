"""Packets -> frames and their times, with FFmpeg's patience: an error costs the packet, not the clip.

Shared by the probe (first picture, count by decode) and the one pass of the decoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from av.error import EOFError as EndOfStream
from av.error import FFmpegError
from av.video.stream import VideoStream

from evaluator.errors import MediaError
from evaluator.media.container import MediaFrame, MediaPacket, MediaStream
from evaluator.media.limits import Limits
from evaluator.media.types import F64

UNTIMED = frozenset({"avi", "h264", "hevc", "m4v", "mpegvideo", "av1", "obu"})
"""Containers that store no presentation times. AVI's are those of decoding."""

Stamp = tuple[int | None, int]
"""(presentation time stamp, duration) of a frame in units of its stream's time base; 0 = duration unknown."""


class StreamDecoder:
    """The decoder of one stream, on one thread. Counts the packets that it could not decode."""

    def __init__(self, stream: MediaStream, limits: Limits) -> None:
        context = stream.codec_context
        if context is None:
            raise MediaError("unsupported_codec", f"stream {stream.index} has a codec that FFmpeg cannot decode")
        context.thread_count = 1  # the process's workers use the cores, one clip each
        context.options = {"max_pixels": str(limits.pixels)}
        self.errors = 0

    def decode(self, packet: MediaPacket) -> list[MediaFrame]:
        """Frames that come out when `packet` (or an empty one, to flush) goes in."""
        try:
            return [*packet.decode()]
        except EndOfStream:
            return []
        except FFmpegError:
            self.errors += 1
            return []


def seconds(stamp: float, stream: MediaStream) -> float:
    """Correctly rounded seconds of a time stamp in units of the stream's time base."""
    base = stream.time_base
    assert base is not None  # noqa: S101  (only an output stream may lack one)
    return stamp * base.numerator / base.denominator


def timeline(stream: VideoStream, frames: Sequence[Stamp]) -> tuple[F64, float]:
    """Times [N] of frames in presentation order and the end of the last one, in seconds.

    Where stamps are missing, do not advance or are those of decoding, frame i is at i / frame rate instead.
    Raises MediaError `no_times` if the stream does not say its frame rate either.
    """
    stamps = [stamp for stamp, _ in frames if stamp is not None]
    ascending = all(a < b for a, b in pairwise(stamps))
    if len(stamps) < len(frames) or not ascending or stream.container.format.name in UNTIMED:
        interval = _interval(stream)
        return interval * np.arange(len(frames), dtype=np.float64), len(frames) * interval
    times = np.array([seconds(stamp, stream) for stamp in stamps])
    stay = frames[-1][1] or (float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0)
    return times, seconds(stamps[-1] + stay, stream)


def _interval(stream: VideoStream) -> float:
    """Seconds per frame by the stream's own word."""
    rate = stream.guessed_rate
    if not rate:
        raise MediaError("no_times", f"{stream.container.name} has neither time stamps nor a frame rate")
    return rate.denominator / rate.numerator
