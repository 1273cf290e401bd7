"""One pass over a file with PyAV, on one thread: pictures to a callback, sound to resamplers. Works for every codec.

Goes on after errors as FFmpeg does, and reports them. Knows nothing about views or sampling.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from av.audio.frame import AudioFrame
from av.error import FFmpegError
from av.video.frame import VideoFrame

from evaluator.errors import MediaError
from evaluator.media.audio import Format, Track
from evaluator.media.container import MediaFrame, MediaStream
from evaluator.media.decoding import Stamp, seconds, timeline
from evaluator.media.limits import Limits
from evaluator.media.reading import Reading
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


def run(file: Reading, on_frame: Callable[[VideoFrame], None] | None, formats: set[Format], limits: Limits) -> Pass:
    """Decode the pictures if there is a callback, and the sound if there are formats.

    Raises MediaError: `corrupt` if a wanted stream decodes to nothing, `too_large`, and whatever opening raises.
    """
    sink = _Sink(file.path, on_frame, Track(formats), limits)
    for stream, frame in file.frames(pictures=on_frame is not None, sound=bool(formats)):
        sink.take(frame, stream)
    sink.end()
    if (on_frame and not sink.stamps) or (formats and not sink.track.seconds):
        raise MediaError("corrupt", f"{file.path}: a stream decodes to nothing; generate or copy it again")
    video, _ = file.streams
    times, end = timeline(video, sink.stamps) if video is not None and sink.stamps else (np.empty(0), 0.0)
    return Pass(times, end, sink.track, tuple(file.notes))


class _Sink:
    """Sends each frame to where it belongs."""

    def __init__(self, path: Path, on_frame: Callable[[VideoFrame], None] | None, track: Track, limits: Limits) -> None:
        self.stamps: list[Stamp] = []
        self.track = track
        self._path = path
        self._on_frame = on_frame
        self._limits = limits

    def take(self, frame: MediaFrame, stream: MediaStream) -> None:
        """Take the next frame of a stream."""
        try:
            if isinstance(frame, VideoFrame):
                self._picture(frame)
            else:
                self._sound(frame, seconds(frame.pts or 0, stream))
        except FFmpegError as error:
            kind = "picture" if isinstance(frame, VideoFrame) else "sound"
            raise self._unsupported(kind, f" format {frame.format.name}", error) from error

    def end(self) -> None:
        """There are no more frames: sound that is still on its way comes out."""
        try:
            self.track.end()
        except FFmpegError as error:
            raise self._unsupported("sound", "", error) from error

    def _unsupported(self, kind: str, what: str, error: FFmpegError) -> MediaError:
        message = f"{self._path}: FFmpeg cannot convert its {kind}{what} ({error.strerror})"
        return MediaError(f"unsupported_{kind}", message)

    def _picture(self, frame: VideoFrame) -> None:
        assert self._on_frame is not None  # noqa: S101  (pictures are decoded only for a callback)
        self._on_frame(frame)
        self.stamps.append((frame.pts, frame.duration))
        if len(self.stamps) > self._limits.frames:
            raise MediaError("too_large", f"{self._path} has more than {self._limits.frames} frames")

    def _sound(self, frame: AudioFrame, time: float) -> None:
        if self.track.seconds + frame.samples / frame.sample_rate > self._limits.seconds:
            raise MediaError("too_large", f"{self._path} has more than {self._limits.seconds} s of sound")
        self.track.push(frame, time)
