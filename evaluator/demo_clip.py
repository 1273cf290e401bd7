"""One stream of a clip rewritten, the other copied packet by packet, with PyAV.

Pictures depend on the input, the recipe and the FFmpeg build, and on nothing else: an encoder that repeats itself
(`evaluator.media.h264`), fixed parameters, no dates and no version strings. Sound is written as FLAC, so that nothing
but the stated damage changes it (FLAC's encoder may choose its code by the processor: other bytes, the same samples).
Knows no damage by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.video.stream import VideoStream

from evaluator.demo_damage import PictureDamage, SoundDamage
from evaluator.errors import MediaError
from evaluator.media.h264 import H264, repeatable
from evaluator.media.types import I16, U8

_ENCODER = {"preset": "veryfast"}
_CONTAINER = {"fflags": "+bitexact", "movflags": "+faststart"}
_BLOCK = 4096
"""Samples of a FLAC frame."""


def rewrite_pictures(source: Path, target: Path, damage: PictureDamage, options: Mapping[str, str]) -> None:
    """`source` with its pictures damaged and encoded as H.264 with more x264 `options`; its sound is copied.

    Every picture keeps its time stamp.
    """
    with av.open(source) as old, av.open(target, "w", format="mp4", options=_CONTAINER) as new:
        template = old.streams.video[0]
        stream = new.add_stream(H264, rate=template.average_rate, options=repeatable({**_ENCODER, **options}))
        clock = _shape_like(template, stream)
        sound = old.streams.audio[0]
        copy = new.add_stream_from_template(sound)
        for picture, time in zip(damage(_pictures(source)), _times(source), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = time, clock
            new.mux(stream.encode(frame))
        new.mux(stream.encode(None))
        _copy(old, sound, new, copy)


def rewrite_sound(source: Path, target: Path, damage: SoundDamage) -> None:
    """`source` with its sound damaged and encoded as FLAC of 16 bits; its pictures are copied."""
    with av.open(source) as old, av.open(target, "w", format="mp4", options=_CONTAINER) as new:
        picture, template = old.streams.video[0], old.streams.audio[0]
        copy = new.add_stream_from_template(picture)
        stream = new.add_stream("flac", rate=template.rate, layout=template.layout.name)
        _copy(old, picture, new, copy)
        samples = damage(_samples(source), template.rate)
        for start in range(0, samples.shape[1], _BLOCK):
            block = samples[:, start : start + _BLOCK]
            frame = av.AudioFrame.from_ndarray(_interleaved(block), format="s16", layout=template.layout.name)
            frame.rate, frame.pts = template.rate, start
            new.mux(stream.encode(frame))
        new.mux(stream.encode(None))


def _shape_like(template: VideoStream, stream: VideoStream) -> Fraction:
    """Give `stream` size, clock and colour tags of another one. Returns the clock, in seconds per tick."""
    clock = template.time_base
    if clock is None:
        raise MediaError("no_time_base", "The video stream has no time base, so that its frames have no times.")
    stream.width, stream.height, stream.pix_fmt, stream.time_base = template.width, template.height, "yuv420p", clock
    old, new = template.codec_context, stream.codec_context
    new.time_base = clock
    new.color_range, new.colorspace = old.color_range, old.colorspace
    new.color_primaries, new.color_trc = old.color_primaries, old.color_trc
    return clock


def _copy(
    old: InputContainer, stream: VideoStream | AudioStream, new: OutputContainer, copy: VideoStream | AudioStream
) -> None:
    """Every packet of `stream`, its bytes and times untouched."""
    for packet in old.demux(stream):
        if packet.dts is not None:  # the empty packet that ends a demux has none
            packet.stream = copy
            new.mux(packet)


def _pictures(path: Path) -> Iterator[U8]:
    """Every frame of the first video stream, [H * 3 / 2, W] planar 4:2:0."""
    with av.open(path) as container:
        for frame in container.decode(video=0):
            yield frame.to_ndarray(format="yuv420p").astype(np.uint8, copy=False)


def _times(path: Path) -> list[int]:
    """Presentation times of the first video stream, ascending, in its own time base."""
    with av.open(path) as container:
        return sorted(packet.pts for packet in container.demux(video=0) if packet.pts is not None)


def _samples(path: Path) -> I16:
    """The first audio stream as int16 [C, T], channels as stored."""
    with av.open(path) as container:
        resampler = av.AudioResampler(format="s16p")
        blocks = [block for frame in container.decode(audio=0) for block in resampler.resample(frame)]
        blocks += resampler.resample(None)
        return np.concatenate([block.to_ndarray() for block in blocks], axis=1).astype(np.int16, copy=False)


def _interleaved(block: I16) -> I16:
    """[C, T] -> [1, T * C], the packed layout that FLAC takes."""
    return np.ascontiguousarray(block.T).reshape(1, -1)
