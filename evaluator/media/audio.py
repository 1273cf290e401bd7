"""The sound of one clip: decoded frames in, mono or stereo int16 at the asked rates out.

libswresample with FFmpeg's defaults, so that samples are those of `ffmpeg -ac CHANNELS -ar RATE -f s16le`: stereo is
averaged, 5.1 is mixed down and normalised so that it cannot clip, no dither, gaps between time stamps are not filled,
the encoder's priming samples are left out. Knows nothing about containers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from av.audio.fifo import AudioFifo
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.error import FFmpegError

from evaluator.media.types import I16, Audio, ClipInfo
from evaluator.schema import AudioView

Format = tuple[int, int]
"""(rate in Hz, channels)"""
LAYOUTS = {1: "mono", 2: "stereo"}

JOINED = 16_384
"""Most samples of the stream that go to the resamplers in one piece: on a frame of 1024 the call costs more than the
arithmetic. No more than a second of them, for a few samples of a stream at 5 Hz are an hour. What comes out does not
depend on it."""


def format_of(view: AudioView) -> Format:
    """What of a view decides its samples."""
    return view.rate, view.channels


class Track:
    """Collects the sound of one stream in several formats."""

    def __init__(self, formats: set[Format]) -> None:
        self._outputs = {wanted: _Output(*wanted) for wanted in sorted(formats)}
        self._kind: tuple[str, str, int] | None = None  # sample format, layout and rate of the stream
        self._waiting = AudioFifo()
        self.start = 0.0  # seconds, of the first sample
        self.seconds = 0.0  # of sound so far
        self.failed: dict[Format, FFmpegError] = {}  # formats that cannot be made of this stream

    def push(self, frame: AudioFrame, time: float) -> None:
        """Take the next decoded frame; `time` is its presentation time in seconds."""
        self.start = self.start if self.seconds else time
        self.seconds += frame.samples / frame.sample_rate
        kind = (frame.format.name, frame.layout.name, frame.sample_rate)
        if kind != self._kind:  # a stream that changes its format gets fresh resamplers, as in FFmpeg
            self.end()
            self._waiting, self._kind = AudioFifo(), kind
        frame.pts = None  # gaps between time stamps are not filled
        self._waiting.write(frame)
        piece = min(JOINED, frame.sample_rate)
        while self._waiting.samples >= piece:
            self._pass_on(piece)

    @property
    def sample_format(self) -> str:
        """FFmpeg's name of it; empty before the first frame."""
        return self._kind[0] if self._kind else ""

    def samples(self, wanted: Format) -> I16:
        """[T], or [T, 2] of two channels: everything so far; call after `end`, and not for what has `failed`."""
        return self._outputs[wanted].samples()

    def _pass_on(self, samples: int = 0) -> None:
        """Give the resamplers so many samples of those that wait, or all."""
        joined = self._waiting.read(samples)
        if joined is not None:
            self._to_each(lambda output: output.take(joined))

    def end(self) -> None:
        """Bring to its end what is still on its way: after the last frame."""
        self._pass_on()
        self._to_each(_Output.end)

    def _to_each(self, act: Callable[[_Output], None]) -> None:
        """Do this to every format that has not failed; one that fails leaves the others as they are."""
        for wanted, output in self._outputs.items():
            if wanted not in self.failed:
                try:
                    act(output)
                except FFmpegError as error:
                    self.failed[wanted] = error


class _Output:
    """One resampler at a time, and what came out of all of them."""

    def __init__(self, rate: int, channels: int) -> None:
        self._rate, self._channels = rate, channels
        self._resampler: AudioResampler | None = None
        self._parts: list[I16] = []

    def take(self, frame: AudioFrame | None) -> None:
        """Resample a frame, or (None) what the resampler still holds."""
        if frame is not None and self._is_as_wanted(frame):
            self._parts.append(_samples(frame, self._channels))
            return
        if self._resampler is None:
            self._resampler = AudioResampler(format="s16", layout=LAYOUTS[self._channels], rate=self._rate)
        found = self._resampler.resample(frame)
        self._parts += [_samples(part, self._channels) for part in found if part is not None]

    def _is_as_wanted(self, frame: AudioFrame) -> bool:
        """Whether no resampler is needed. One that has nothing to do must not see a frame without a channel order (PCM
        in WAV or Matroska): PyAV 18 then has every other resampler refuse the same frame."""
        plain = frame.layout.name in {LAYOUTS[self._channels], f"{self._channels} channels"}
        return plain and (frame.format.name, frame.sample_rate) == ("s16", self._rate)

    def end(self) -> None:
        """Empty the resampler; a next frame gets a fresh one."""
        if self._resampler is not None:
            self.take(None)
            self._resampler = None

    def samples(self) -> I16:
        return np.concatenate(self._parts) if self._parts else _empty(self._channels)


def _samples(frame: AudioFrame, channels: int) -> I16:
    """[T] or [T, channels] of a packed frame, not copied: the array keeps the frame alive."""
    packed: I16 = np.frombuffer(memoryview(frame.planes[0]), np.int16, frame.samples * channels)
    return packed if channels == 1 else packed.reshape(-1, channels)


def _empty(channels: int, count: int = 0) -> I16:
    return np.zeros(count if channels == 1 else (count, channels), np.int16)


def silence(view: AudioView, clip: ClipInfo) -> Audio:
    """Zeros for the duration of the video, for a clip without an audio stream."""
    video = clip.video
    assert video is not None  # noqa: S101  (a clip has a video stream, an audio stream, or both)
    count = round(video.duration * view.rate)
    return Audio(_empty(view.channels, count), view.rate, present=False, start=float(video.times[0]))
