"""A recipe becomes pictures and sound, and these become a file: H.264 at a visible quality, AAC, MP4.

The bytes depend on the recipe, the shots and the FFmpeg build; those of the sound also on the code that AAC's encoder
chooses by the processor. Knows nothing about what will be measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.container import OutputContainer
from av.video.stream import VideoStream

from evaluator.media.h264 import H264, repeatable
from evaluator.media.types import F64, U8
from evaluator.suites.cutcraft.lab.bridge import bridged
from evaluator.suites.cutcraft.lab.library import Make, make
from evaluator.suites.cutcraft.lab.picture import joined
from evaluator.suites.cutcraft.lab.recipe import RATE, SECONDS, SOUND_RATE, Recipe
from evaluator.suites.cutcraft.lab.shots import filmed

ENCODER = {"preset": "veryfast", "crf": "23"}
CONTAINER = {"fflags": "+bitexact"}
BLOCK = 1024
"""Samples of an AAC frame."""


def pictures(recipe: Recipe, shots: Mapping[str, U8]) -> U8:
    """[N, HEIGHT, WIDTH, 3]"""
    count = round(SECONDS * RATE)
    a, b = (filmed(shots[name], count, speed) for name, speed in zip(recipe.shots, recipe.speeds, strict=True))
    return joined(a, b, recipe)


def sound(recipe: Recipe, make: Make = make) -> F64:
    """[T] at SOUND_RATE; `make` has the sounds that the recipe names."""
    first, second = (make(name, SECONDS, recipe.seed + k) for k, name in enumerate(recipe.sounds))
    bed = make(recipe.bed, SECONDS, recipe.seed + 2) if recipe.bed else None
    return bridged(first, second, bed, recipe)


def write(path: Path, frames: U8 | None, samples: F64) -> None:
    """Encode pictures [N, H, W, 3] at RATE, if there are any, and sound [T] at SOUND_RATE."""
    with av.open(path, "w", format="mp4", options=CONTAINER) as container:
        video = _video(container, frames) if frames is not None else None
        audio = container.add_stream("aac", rate=SOUND_RATE, layout="mono")
        for number, picture in enumerate(() if frames is None else frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            frame.pts, frame.time_base = number, Fraction(1, RATE)
            container.mux(video.encode(frame) if video else [])
        clipped = np.clip(samples, -1, 1).astype(np.float32)
        for start in range(0, len(clipped), BLOCK):
            block = av.AudioFrame.from_ndarray(clipped[None, start : start + BLOCK], format="fltp", layout="mono")
            block.rate, block.pts = SOUND_RATE, start
            container.mux(audio.encode(block))
        container.mux(audio.encode(None))
        container.mux(video.encode(None) if video else [])


def _video(container: OutputContainer, frames: U8) -> VideoStream:
    stream = container.add_stream(H264, rate=RATE, options=repeatable(ENCODER))
    stream.height, stream.width, stream.pix_fmt = frames.shape[1], frames.shape[2], "yuv420p"
    return stream
