"""One pass over a file with PyAV, on one thread: pictures to a callback, sound to resamplers. Works for every codec.

Goes on after errors as FFmpeg does, and reports them. Knows nothing about views or sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from av.audio.frame import AudioFrame
from av.container import InputContainer
from av.error import FFmpegError
from av.video.frame import VideoFrame

from evaluator.errors import MediaError
from evaluator.media.audio import Track
from evaluator.media.container import MediaFrame, MediaStream, open_media, packets, streams
from evaluator.media.decoding import Stamp, StreamDecoder, seconds, timeline
from evaluator.media.limits import Limits
from evaluator.media.types import F64


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass met. Without a picture callback, `times` is empty and `frames` is 0."""

    times: F64  # [N] seconds, of the decoded frames
    end: float  # seconds, of the last frame
    track: Track
    notes: tuple[str, ...]

    @property
    def frames(self) -> int:
        """Number of decoded pictures."""
        return len(self.times)


def run(path: Path, on_frame: Callable[[VideoFrame], None] | None, rates: set[int], limits: Limits) -> Pass:
    """Decode the pictures if there is a callback, and the sound if there are rates.

    Raises MediaError: `corrupt` if a wanted stream decodes to nothing, `too_large`, and whatever opening raises.
    """
    with open_media(path, limits) as container:
        video, audio = streams(container)
        reader = _Reader(path, on_frame, Track(rates), limits)
        wanted = [stream for stream, use in ((video, on_frame), (audio, rates)) if stream is not None and use]
        reader.read(container, wanted)
        if (on_frame and not reader.stamps) or (rates and not reader.track.seconds):
            raise MediaError("corrupt", f"{path}: a stream decodes to nothing; generate or copy it again")
        times, end = timeline(video, reader.stamps) if video is not None and reader.stamps else (np.empty(0), 0.0)
        return Pass(times, end, reader.track, tuple(reader.notes))


class _Reader:
    """Sends each packet to the decoder of its stream, and each frame to where it belongs."""

    def __init__(self, path: Path, on_frame: Callable[[VideoFrame], None] | None, track: Track, limits: Limits) -> None:
        self.stamps: list[Stamp] = []
        self.notes: list[str] = []
        self.track = track
        self._path = path
        self._on_frame = on_frame
        self._limits = limits

    def read(self, container: InputContainer, wanted: list[MediaStream]) -> None:
        decoders = {stream: StreamDecoder(stream, self._limits) for stream in wanted}
        for packet in packets(container, *wanted):
            if isinstance(packet, FFmpegError):
                self.notes.append(f"read error: {packet.strerror}")
                continue
            for frame in decoders[packet.stream].decode(packet):
                self._take(frame, packet.stream)
        for stream, decoder in decoders.items():
            if decoder.errors:
                self.notes.append(f"{decoder.errors} {stream.type} packets could not be decoded")

    def _take(self, frame: MediaFrame, stream: MediaStream) -> None:
        try:
            if isinstance(frame, VideoFrame):
                self._picture(frame)
            else:
                self._sound(frame, seconds(frame.pts or 0, stream))
        except FFmpegError as error:
            kind = "picture" if isinstance(frame, VideoFrame) else "sound"
            message = f"{self._path}: FFmpeg cannot convert its {kind} format {frame.format.name} ({error.strerror})"
            raise MediaError(f"unsupported_{kind}", message) from error

    def _picture(self, frame: VideoFrame) -> None:
        assert self._on_frame is not None  # noqa: S101  (pictures are decoded only for a callback)
        self._on_frame(frame)
        self.stamps.append((frame.pts, frame.duration))
        if len(self.stamps) > self._limits.frames:
            raise MediaError("too_large", f"{self._path} has more than {self._limits.frames} frames")

    def _sound(self, frame: AudioFrame, time: float) -> None:
        self.track.push(frame, time)
        if self.track.seconds > self._limits.seconds:
            raise MediaError("too_large", f"{self._path} has more than {self._limits.seconds} s of sound")
