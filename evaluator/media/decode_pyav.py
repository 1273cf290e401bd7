"""One pass over a file with PyAV, on one thread: pictures to a callback, sound to resamplers. Works for every codec.

Goes on after errors as FFmpeg does, and reports them. What one stream cannot give is lost to those who want that
stream, and nobody else. Knows nothing about views or sampling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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

Kind = Literal["picture", "sound"]


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass met. Without a picture callback, `times` is empty and `frames` is 0."""

    times: F64  # [N] seconds, of the decoded frames
    end: float  # seconds, of the last frame
    track: Track
    notes: tuple[str, ...]
    lost: Mapping[Kind, Exception]  # why a wanted stream gave nothing, or not everything

    @property
    def frames(self) -> int:
        """Number of decoded pictures."""
        return len(self.times)


def run(file: Reading, on_frame: Callable[[VideoFrame], None] | None, formats: set[Format], limits: Limits) -> Pass:
    """Decode the pictures if there is a callback, and the sound if there are formats.

    A stream is `lost` with MediaError `corrupt` if it decodes to nothing, with `too_large`, or with what the callback
    raised. Raises whatever opening raises.
    """
    sink = _Sink(file.path, on_frame, Track(formats), limits)
    for stream, frame in file.frames(pictures=on_frame is not None, sound=bool(formats)):
        if not sink.take(frame, stream):
            file.forgo(stream)
    sink.end(bool(formats))
    video, _ = file.streams
    times, end = np.empty(0), 0.0
    if video is not None and sink.stamps:
        try:
            times, end = timeline(video, sink.stamps)
        except MediaError as error:
            sink.lost.setdefault("picture", error)
    return Pass(times, end, sink.track, tuple(file.notes), sink.lost)


def unsupported(path: Path, kind: Kind, sample_format: str, error: FFmpegError) -> MediaError:
    """What is said of pictures or sound that decode and cannot be converted."""
    message = f"{path}: FFmpeg cannot convert its {kind} format {sample_format} ({error.strerror})"
    return MediaError(f"unsupported_{kind}", message)


class _Sink:
    """Sends each frame to where it belongs."""

    def __init__(self, path: Path, on_frame: Callable[[VideoFrame], None] | None, track: Track, limits: Limits) -> None:
        self.stamps: list[Stamp] = []
        self.lost: dict[Kind, Exception] = {}
        self.track = track
        self._path = path
        self._on_frame = on_frame
        self._limits = limits

    def take(self, frame: MediaFrame, stream: MediaStream) -> bool:
        """Take the next frame of a stream; False if no more of that stream is of use."""
        kind: Kind = "picture" if isinstance(frame, VideoFrame) else "sound"
        if kind not in self.lost:
            try:
                if isinstance(frame, VideoFrame):
                    self._picture(frame)
                else:
                    self._sound(frame, seconds(frame.pts or 0, stream))
            except FFmpegError as error:
                self.lost[kind] = unsupported(self._path, kind, frame.format.name, error)
            except Exception as error:  # kept for those who want this stream, who have it raised to them
                self.lost[kind] = error
        return kind not in self.lost

    def end(self, listens: bool) -> None:
        """There are no more frames: sound that is still on its way comes out."""
        self.track.end()
        wanted: dict[Kind, bool] = {"picture": self._on_frame is not None, "sound": listens}
        got: dict[Kind, bool] = {"picture": bool(self.stamps), "sound": self.track.seconds > 0}
        for kind in (kind for kind in wanted if wanted[kind] and not got[kind]):
            why = MediaError("corrupt", f"{self._path}: its {kind} decodes to nothing; generate or copy it again")
            self.lost.setdefault(kind, why)

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
