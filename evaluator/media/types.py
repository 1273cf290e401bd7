"""What the media stage hands out: facts about a clip, pictures, sound. Plain arrays, no decoder objects.

Knows nothing about models or metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluator.schema import AudioView, View

U8 = npt.NDArray[np.uint8]
I16 = npt.NDArray[np.int16]
I64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """Facts of the first video stream. Sizes are those of the display picture, after rotation, before sample aspect."""

    codec: str
    width: int
    height: int
    pixel_format: str
    matrix: str  # colour matrix used for conversion: "bt601", "bt709", "bt2020", ... ("bt601" if untagged)
    full_range: bool
    rotation: int  # degrees clockwise that were applied: 0, 90, 180 or 270
    sample_aspect: tuple[int, int]
    times: F64  # [N] presentation time in seconds of every frame, ascending, as stored (an offset is kept)
    duration: float  # seconds, from the first frame's start to the last frame's end
    interlaced: bool = False
    indexed_by: str = "packets"  # "packets" (demux only) or "decode" (the packet table could not be trusted)
    promised: int = 0  # frames that the container's header counts, or its duration times its rate; 0: it says neither
    keys: I64 = field(
        default_factory=lambda: np.empty(0, np.int64)
    )  # [K] frames that the container marks as key frames
    hidden: int = 0  # packets that are decoded and not shown (an edit list begins between key frames)

    @property
    def frames(self) -> int:
        """Number of frames that a full decode yields."""
        return len(self.times)

    @property
    def rate(self) -> float:
        """Mean frames per second over the clip; 0.0 for a still."""
        return self.frames / self.duration if self.duration > 0 else 0.0


@dataclass(frozen=True, slots=True)
class AudioInfo:
    """Facts of the first audio stream."""

    codec: str
    rate: int  # Hz, as stored
    channels: int
    start: float  # presentation time in seconds of the first sample
    duration: float  # seconds


@dataclass(frozen=True, slots=True)
class ClipInfo:
    """Facts of one file. A file has a video stream, an audio stream, or both."""

    container: str
    video: VideoInfo | None
    audio: AudioInfo | None
    notes: tuple[str, ...] = ()  # oddities worth a line in a record, for example "truncated"
    damaged: tuple[tuple[str, str, str], ...] = ()  # ("video" or "audio", error code, why it cannot be used)

    @property
    def duration(self) -> float:
        """Seconds of the longer stream."""
        return max(self.video.duration if self.video else 0.0, self.audio.duration if self.audio else 0.0)


@dataclass(frozen=True, slots=True)
class Frames:
    """Pictures of one view, in presentation order."""

    data: U8  # [N, H, W, C]; a tensor in device memory for an expert that says `on_device`, where pictures are there
    index: I64  # [N] position in the clip, counted from 0
    time: F64  # [N] seconds, as stored
    clip: ClipInfo


@dataclass(frozen=True, slots=True)
class Audio:
    """Sound of one view: int16. `present` is False when the clip has no audio stream (samples are then zeros)."""

    samples: I16  # [T], or [T, 2] of a view with two channels
    rate: int
    present: bool
    start: float = 0.0  # presentation time in seconds of the first sample

    @property
    def float32(self) -> F32:
        """The samples as float32 in [-1, 1)."""
        return self.samples.astype(np.float32) / np.float32(32768)


@dataclass(frozen=True, slots=True)
class FrameChunk:
    """A few consecutive frames of a view, as they pass."""

    data: U8  # [n, H, W, C]; as in `Frames`
    index: I64  # [n]
    time: F64  # [n]


class FrameTap(Protocol):
    """Something that watches a view while the clip is decoded. `close` returns what it made of it."""

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames, at most `evaluator.media.decode.CHUNK` of them."""

    def close(self) -> object:
        """Called once after the last frame."""


@dataclass(frozen=True, slots=True)
class DecodeReport:
    """What one pass over a file cost and met. Counters only; never part of a score."""

    passes: int = 1
    frames_decoded: int = 0
    frames_converted: int = 0
    notes: tuple[str, ...] = field(default=())
    clip: ClipInfo | None = None  # the facts as decoding found them: differ from the probe's when a file is damaged
    lost: Mapping[View | AudioView, Exception] = field(default_factory=dict)  # what could not be made, and why not
