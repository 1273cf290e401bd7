"""The sound of one clip: decoded frames in, mono int16 at the asked rates out.

libswresample with FFmpeg's defaults, so that samples are those of `ffmpeg -ac 1 -ar RATE -f s16le`: stereo is
averaged, 5.1 is mixed down and normalised so that it cannot clip, no dither, gaps between time stamps are not filled,
the encoder's priming samples are left out. Knows nothing about containers.
"""

from __future__ import annotations

import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler

from evaluator.media.types import I16, Audio, ClipInfo
from evaluator.schema import AudioView


class Track:
    """Collects the sound of one stream at several rates."""

    def __init__(self, rates: set[int]) -> None:
        self._rates = {rate: _Rate(rate) for rate in sorted(rates)}
        self.start = 0.0  # seconds, of the first sample
        self.seconds = 0.0  # of sound so far

    def push(self, frame: AudioFrame, time: float) -> None:
        """Take the next decoded frame; `time` is its presentation time in seconds."""
        self.start = self.start if self.seconds else time
        self.seconds += frame.samples / frame.sample_rate
        for rate in self._rates.values():
            rate.push(frame)

    def samples(self, rate: int) -> I16:
        """[T] everything so far; call once, after the last frame."""
        return self._rates[rate].finish()


class _Rate:
    """One resampler. A stream that changes its format gets a fresh one, as in FFmpeg."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._format: tuple[str, str, int] | None = None
        self._resampler = self._fresh()
        self._parts: list[I16] = []

    def push(self, frame: AudioFrame) -> None:
        found = (frame.format.name, frame.layout.name, frame.sample_rate)
        if self._format not in {None, found}:
            self._take(self._resampler.resample(None))
            self._resampler = self._fresh()
        self._format = found
        self._take(self._resampler.resample(frame))

    def finish(self) -> I16:
        self._take(self._resampler.resample(None))
        return np.concatenate(self._parts) if self._parts else np.empty(0, np.int16)

    def _fresh(self) -> AudioResampler:
        return AudioResampler(format="s16", layout="mono", rate=self._rate)

    def _take(self, frames: list[AudioFrame]) -> None:
        self._parts += [frame.to_ndarray().reshape(-1).astype(np.int16) for frame in frames if frame is not None]


def silence(view: AudioView, clip: ClipInfo) -> Audio:
    """Zeros for the duration of the video, for a clip without an audio stream."""
    video = clip.video
    assert video is not None  # noqa: S101  (a clip has a video stream, an audio stream, or both)
    samples = np.zeros(round(video.duration * view.rate), np.int16)
    return Audio(samples, view.rate, present=False, start=float(video.times[0]))
