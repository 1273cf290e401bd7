"""Packets -> frames and their times, with FFmpeg's patience: an error costs the packet, not the clip.

Shared by the probe (first picture, count by decode) and the one pass of the decoder.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from av.error import EOFError as EndOfStream
from av.error import FFmpegError
from av.video.stream import VideoStream

from evaluator.errors import MediaError
from evaluator.media.container import MediaFrame, MediaPacket, MediaStream
from evaluator.media.limits import Limits
from evaluator.media.types import F64, I64

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
        context.options = {"max_pixels": str(limits.decoder_pixels)}
        self.errors = 0
        self._held: deque[list[MediaFrame]] = deque(maxlen=2)

    def decode(self, packet: MediaPacket) -> list[MediaFrame]:
        """Frames that come out when `packet` (or an empty one, to flush) goes in.

        They live until others have come twice. A decoder that meets damage may hand out the memory of an earlier frame
        as it was: of which, must not depend on when others let theirs go, and so on what else is decoded.
        """
        frames: list[MediaFrame] = []
        try:
            frames += packet.decode()
        except EndOfStream:
            pass
        except FFmpegError:
            self.errors += 1
        if frames:
            self._held.append(frames)
        return frames


def seconds(stamp: float, stream: MediaStream) -> float:
    """Correctly rounded seconds of a time stamp in units of the stream's time base."""
    base = time_base(stream)
    return stamp * base.numerator / base.denominator


def time_base(stream: MediaStream) -> Fraction:
    """Seconds per unit of the stream's time stamps; PyAV makes the fraction anew each time it is asked."""
    base = stream.time_base
    assert base is not None  # noqa: S101  (only an output stream may lack one)
    return base


def timeline(stream: VideoStream, frames: Sequence[Stamp]) -> tuple[F64, float]:
    """Times [N], ascending, of frames in presentation order and the end of the last one, in seconds.

    The largest set of stamps that ascend is believed; frames between them (damage leaves stale stamps) are spaced
    evenly. Where that is less than half of the frames, or in a container without times, frame i is at i / frame rate.
    Raises MediaError `no_times` if the stream does not say its frame rate then.
    """
    stamps = [stamp for stamp, _ in frames]
    known = ascending(stamps)
    few = 2 * len(known) < len(frames) or len(known) < min(2, len(frames))
    if few or stream.container.format.name in UNTIMED:
        interval = _interval(stream)
        return interval * np.arange(len(frames), dtype=np.float64), len(frames) * interval
    base = time_base(stream)
    at = np.array([(stamps[place] or 0) * base.numerator / base.denominator for place in known])
    step = float(np.median(np.diff(at) / np.diff(known))) if len(known) > 1 else 0.0
    times = at if len(known) == len(frames) else _spaced(len(frames), np.array(known), at, step)
    return times, float(times[-1]) + (seconds(frames[-1][1], stream) or step)


def ascending(stamps: Sequence[int | None]) -> list[int]:
    """Places of a longest strictly ascending subsequence, missing stamps left out."""
    tails: list[int] = []  # smallest last stamp of a subsequence, by length
    places: list[int] = []  # where it is
    before: dict[int, int] = {}
    for place, stamp in enumerate(stamps):
        if stamp is None:
            continue
        length = bisect_left(tails, stamp)
        before[place] = places[length - 1] if length else -1
        tails[length : length + 1] = [stamp]
        places[length : length + 1] = [place]
    chain = places[-1:]
    while chain and before[chain[-1]] >= 0:
        chain.append(before[chain[-1]])
    return chain[::-1]


def _spaced(count: int, known: I64, at: F64, step: float) -> F64:
    """[count] times that go through the known ones: straight between them, `step` seconds apart outside."""
    place = np.arange(count)
    outside = np.minimum(place - known[0], 0) + np.maximum(place - known[-1], 0)
    times: F64 = np.interp(place, known, at) + step * outside
    return times


def _interval(stream: VideoStream) -> float:
    """Seconds per frame by the stream's own word."""
    rate = stream.guessed_rate
    if not rate:
        raise MediaError("no_times", f"{stream.container.name} has neither time stamps nor a frame rate")
    return rate.denominator / rate.numerator
