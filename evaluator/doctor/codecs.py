"""Clips of many kinds, written on the spot, decoded by the media stage, and compared with what went in.

Every frame carries its number as a row of black and white blocks, so that a missing, repeated or shifted frame is seen
whatever the codec does to the picture. What cannot be written here (a licence, a build without an encoder) is told and
not held against the machine. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import cast

import av
import numpy as np
from av.audio.stream import AudioStream
from av.video.stream import VideoStream

from evaluator.doctor.finding import Finding, Level
from evaluator.errors import MediaError
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.media.types import U8, ClipInfo, Frames
from evaluator.schema import AudioView, View

FRAMES, RATE, BITS, BLOCK = 24, 24, 8, 16
WIDTH, HEIGHT = BITS * BLOCK, 64
SOUND_RATE = 48_000


@dataclass(frozen=True, slots=True)
class Kind:
    """One container with its codecs, and what FFmpeg calls their encoders."""

    name: str
    suffix: str
    encoder: str
    pixels: str = "yuv420p"
    sound: str = ""
    quiet: str = ""  # "option=value" that keeps an encoder from writing to stderr by itself


STORED = "av1.mp4"
"""A clip that `write` made once. The only AV1 encoder here turns its process into a real-time one (SCHED_FIFO) if that
is allowed: a machine with few cores stands still, and every child of the process inherits it."""

KINDS = (
    Kind("H.264 + AAC in MP4", "mp4", "libx264", sound="aac"),
    Kind("H.264 10-bit in Matroska", "mkv", "libx264", "yuv420p10le"),
    Kind("HEVC in MP4", "mp4", "libx265", quiet="x265-params=log-level=none"),
    Kind("VP9 + Opus in WebM", "webm", "libvpx-vp9", sound="libopus"),
    Kind("AV1 in MP4", "mp4", STORED),
    Kind("MPEG-4 part 2 + MP3 in AVI", "avi", "mpeg4", sound="libmp3lame"),
    Kind("Motion JPEG in QuickTime", "mov", "mjpeg", "yuvj420p"),
    Kind("ProRes in QuickTime", "mov", "prores_ks", "yuv422p10le"),
    Kind("FFV1 + FLAC in Matroska", "mkv", "ffv1", sound="flac"),
)


def findings(folder: Path) -> Iterator[Finding]:
    """One finding per kind of clip. Clips are written into `folder`."""
    for place, kind in enumerate(KINDS):
        yield _finding(kind, folder / f"{place}.{kind.suffix}")


def _finding(kind: Kind, path: Path) -> Finding:
    section = "codecs"
    try:
        write(kind, path)
    except (av.FFmpegError, ValueError) as error:
        return Finding(section, kind.name, Level.NOTE, f"cannot be written here, so not tried ({error})")
    try:
        problem = wrong(kind, path)
    except MediaError as error:
        problem = str(error).replace(str(path), path.name)
    if problem:
        return Finding(section, kind.name, Level.MISSING, problem, "use the locked PyAV: docker/requirements/cpu.txt")
    return Finding(section, kind.name, Level.OK, f"{FRAMES} frames in order{' and their sound' if kind.sound else ''}")


def wrong(kind: Kind, path: Path) -> str:
    """What is wrong with a decoded clip; empty if every frame came, once, in order, with the right length of sound."""
    info = probe(path)
    tap = CollectTap(info)
    audio = [AudioView(16_000)] if kind.sound else []
    sound, _ = decode(path, info, [(View(), tap)], audio)
    frames: Frames = tap.close()
    numbers = [number(picture) for picture in frames.data]
    if numbers != list(range(FRAMES)):
        return f"frames {numbers} instead of 0 to {FRAMES - 1}"
    if not np.allclose(np.diff(frames.time), 1 / RATE, atol=2e-3):
        return "frame times are not evenly spaced"
    return _wrong_sound(info, [track.samples for track in sound.values()])


def _wrong_sound(info: ClipInfo, tracks: list[np.ndarray]) -> str:
    """Encoders pad: up to a tenth of a second too much is normal, too little is not."""
    for samples in tracks:
        seconds = len(samples) / 16_000
        if not FRAMES / RATE - 0.05 <= seconds <= FRAMES / RATE + 0.15:
            return f"{seconds:.2f} s of sound instead of {FRAMES / RATE:.2f}"
        if np.abs(samples[4000:8000].astype(np.float64)).mean() < 1000:
            return "the sound is not the tone that was written"
    return ""


def picture(index: int) -> U8:
    """[HEIGHT, WIDTH, 3]: the bits of a frame's number, most significant first, as blocks of 235 or 16."""
    bits = [index >> shift & 1 for shift in reversed(range(BITS))]
    row = np.repeat(np.array([235 if bit else 16 for bit in bits], np.uint8), BLOCK)
    return np.broadcast_to(row[None, :, None], (HEIGHT, WIDTH, 3)).copy()


def number(frame: U8) -> int:
    """The number that a decoded frame [H, W, C] carries."""
    level = frame.astype(np.float64).mean(axis=(0, 2)).reshape(BITS, BLOCK)[:, 4:-4].mean(axis=1)
    return sum(int(bright > 128) << shift for bright, shift in zip(level, reversed(range(BITS)), strict=True))


def write(kind: Kind, path: Path) -> None:
    """Write a second of numbered frames and a tone. Raises av.FFmpegError or ValueError without the codec."""
    if kind.encoder == STORED:
        path.write_bytes((files("evaluator.doctor") / STORED).read_bytes())
        return
    with av.open(str(path), "w") as container:
        video = cast(VideoStream, container.add_stream(kind.encoder, RATE, {"threads": "1", **_options(kind)}))
        video.width, video.height, video.pix_fmt = WIDTH, HEIGHT, kind.pixels
        audio = cast(AudioStream, container.add_stream(kind.sound, SOUND_RATE)) if kind.sound else None
        for index in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(picture(index), format="rgb24")
            frame.pts = index
            container.mux(video.encode(frame))
        container.mux(video.encode(None))
        if audio is not None:
            for block in _tone():
                container.mux(audio.encode(block))
            container.mux(audio.encode(None))


def _options(kind: Kind) -> dict[str, str]:
    name, _, value = kind.quiet.partition("=")
    return {name: value} if name else {}


def _tone() -> Iterator[av.AudioFrame]:
    time = np.arange(SOUND_RATE * FRAMES // RATE) / SOUND_RATE
    wave = (12_000 * np.sin(2 * np.pi * 440 * time)).astype(np.int16)
    for start in range(0, len(wave), 960):
        block = av.AudioFrame.from_ndarray(wave[None, start : start + 960], format="s16", layout="mono")
        block.sample_rate, block.pts = SOUND_RATE, start
        yield block
