"""The synthetic clips of the benchmark: fixed content, sizes, frame rates and key frame distances; made once, cached.

A clip pans over a textured plane while discs cross it, and cuts to another plane in its middle: texture costs the
decoder what real pictures cost it, motion vectors are needed, and a shot boundary exists. The sound is a chord that
swells four times a second, with noise. The content is a pure function of the recipe; the bytes are the encoder's, so
their digests are part of a result.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
import orjson
from av.container import OutputContainer
from av.stream import Stream

from evaluator.media.h264 import H264, repeatable
from evaluator.media.types import U8

VERSION = 2
"""Raised when a recipe gives other content or other bytes."""

CLOCK = 12_000
"""Ticks per second of the video: divisible by every frame rate here."""
SOUND_RATE = 48_000
BLOCK = 1024  # samples of an AAC frame
MARGIN = 256  # pixels that a plane is larger than the picture, on each axis: how far a pan goes
ENCODER = {"preset": "veryfast", "crf": "23", "sc_threshold": "0"}
CONTAINER = {"fflags": "+bitexact"}


@dataclass(frozen=True, slots=True)
class Recipe:
    """One clip. `gop` is the distance of key frames; `variable` drops every fifth frame and keeps the others' times."""

    name: str
    width: int
    height: int
    rate: int
    seconds: float
    gop: int
    variable: bool = False

    @property
    def file(self) -> str:
        """A file name that no other recipe has."""
        key = orjson.dumps([VERSION, asdict(self)])
        return f"{self.name}-{hashlib.sha256(key).hexdigest()[:10]}.mp4"

    @property
    def ticks(self) -> list[int]:
        """Presentation times of the frames, in units of 1 / CLOCK seconds."""
        numbers = range(round(self.rate * self.seconds))
        return [number * CLOCK // self.rate for number in numbers if not (self.variable and number % 5 == 3)]


def make(recipe: Recipe, folder: Path) -> Path:
    """The clip of a recipe in `folder`, encoded unless it is there already."""
    path = folder / recipe.file
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        encode(recipe, part)
        part.replace(path)
    return path


def encode(recipe: Recipe, path: Path) -> None:
    """Write one clip: H.264 with AAC sound in MP4."""
    options = repeatable({**ENCODER, "g": str(recipe.gop), "keyint_min": str(recipe.gop)})
    with av.open(path, "w", format="mp4", options=CONTAINER) as container:
        video = container.add_stream(H264, rate=recipe.rate, options=options)
        video.width, video.height, video.pix_fmt = recipe.width, recipe.height, "yuv420p"
        video.time_base = video.codec_context.time_base = Fraction(1, CLOCK)
        audio = container.add_stream("aac", rate=SOUND_RATE, layout="stereo")
        sound = _sound(recipe)
        for ticks, picture in zip(recipe.ticks, _pictures(recipe), strict=True):
            frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
            frame.pts, frame.time_base = ticks, Fraction(1, CLOCK)
            container.mux(video.encode(frame))
            _until(container, audio, sound, ticks / CLOCK)
        _until(container, audio, sound, recipe.seconds)
        for stream in (video, audio):
            container.mux(stream.encode(None))


def _until(container: OutputContainer, stream: Stream, sound: Iterator[av.AudioFrame], time: float) -> None:
    """Interleave the sound up to a time in seconds."""
    for frame in sound:
        container.mux(stream.encode(frame))  # type: ignore[attr-defined]
        if frame.pts is not None and frame.pts >= time * SOUND_RATE:
            return


def _pictures(recipe: Recipe) -> Iterator[U8]:
    """Planar 4:2:0 pictures [H * 3 / 2, W]."""
    planes = [_plane(recipe, seed) for seed in (1, 2)]
    for ticks in recipe.ticks:
        time = ticks / CLOCK
        shot = int(time >= recipe.seconds / 2)
        x = round(MARGIN / 2 * (1 + np.sin(0.9 * time + shot)))
        y = round(MARGIN / 2 * (1 + np.cos(0.7 * time)))
        picture = planes[shot][y : y + recipe.height, x : x + recipe.width].copy()
        for disc in range(3):
            where = (int(recipe.width * ((0.13 * time + disc / 3) % 1)), recipe.height * (1 + disc) // 4)
            shade = (90 * disc, 220 - 70 * disc, 60 + 80 * disc)
            cv2.circle(picture, where, recipe.height // 9, shade, thickness=-1)
        yield np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2YUV_I420), np.uint8)


def _plane(recipe: Recipe, seed: int) -> U8:
    """A textured plane [H + MARGIN, W + MARGIN, 3]: noise at octaves from coarse to fine, like foliage or stone."""
    draw = np.random.RandomState(seed)  # numpy guarantees its stream for all time
    size = (recipe.width + MARGIN, recipe.height + MARGIN)
    plane = np.full((size[1], size[0], 3), 128.0, np.float32)
    for octave in range(2, 9):
        cells = (2**octave, 2**octave)
        noise = draw.standard_normal((*cells, 3)).astype(np.float32)
        plane += 40.0 / octave * cv2.resize(noise, size, interpolation=cv2.INTER_CUBIC)
    return np.clip(plane, 0, 255).astype(np.uint8)


def _sound(recipe: Recipe) -> Iterator[av.AudioFrame]:
    """Stereo float frames of BLOCK samples."""
    time = np.arange(round(recipe.seconds * SOUND_RATE)) / SOUND_RATE
    noise = np.random.RandomState(3).standard_normal(len(time))
    chord = sum(np.sin(2 * np.pi * pitch * time) for pitch in (220.0, 277.2, 329.6))
    mono = (0.5 + 0.5 * np.sin(8 * np.pi * time)) * (0.15 * chord + 0.02 * noise)
    stereo = np.stack([mono, mono]).astype(np.float32)
    for start in range(0, len(time), BLOCK):
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(stereo[:, start : start + BLOCK]), format="fltp", layout="stereo"
        )
        frame.rate, frame.pts = SOUND_RATE, start
        yield frame
