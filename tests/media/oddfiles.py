"""Makes small clips with known contents: every picture carries its own index, every oddity is on purpose.

Everything is encoded here with PyAV, so the tests need no ffmpeg binary and no files.
"""

from __future__ import annotations

import multiprocessing
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.audio.layout import AudioLayout
from av.video.reformatter import ColorRange, Colorspace

BITS = 6
FPS = 25
WIDTH, HEIGHT = 96, 64


def picture(index: int, width: int = WIDTH, height: int = HEIGHT) -> np.ndarray:
    """[H, W, 3] RGB: six black or white columns that spell `index` above four flat colours that never change."""
    image = np.zeros((height, width, 3), np.uint8)
    edges = np.linspace(0, width, BITS + 1).astype(int)
    for bit in range(BITS):
        image[: height // 2, edges[bit] : edges[bit + 1]] = 255 * (index >> bit & 1)
    for colour, left in zip(COLOURS, np.linspace(0, width, len(COLOURS) + 1).astype(int)[:-1], strict=True):
        image[height // 2 :, left:] = colour
    return image


COLOURS = ((200, 40, 40), (40, 180, 60), (50, 60, 200), (190, 180, 40))


def read_index(image: np.ndarray) -> int:
    """The index that a picture of any size and any codec still spells."""
    height, width = image.shape[:2]
    row = image[height // 8 : 3 * height // 8].mean(axis=(0, 2))
    centres = ((np.arange(BITS) + 0.5) * width / BITS).astype(int)
    return int(sum(1 << bit for bit, x in enumerate(centres) if row[x] > 127))


def read_colours(image: np.ndarray) -> np.ndarray:
    """[4, 3] the flat colours, away from their edges."""
    height, width = image.shape[:2]
    centres = ((np.arange(4) + 0.5) * width / 4).astype(int)
    return np.array([image[3 * height // 4 - 2 : 3 * height // 4 + 2, x - 2 : x + 3].mean((0, 1)) for x in centres])


@dataclass(frozen=True)
class Sound:
    """A tone (or silence) of one clip."""

    seconds: float = 2.0
    rate: int = 48_000
    gains: tuple[float, ...] = (0.5, 0.5)  # per channel
    hertz: float = 440.0
    start: float = 0.0
    codec: str = "aac"

    def samples(self) -> np.ndarray:
        """[channels, T] float32."""
        time = np.arange(round(self.seconds * self.rate)) / self.rate
        return (np.array(self.gains)[:, None] * np.sin(2 * np.pi * self.hertz * time)).astype(np.float32)


@dataclass(frozen=True)
class Clip:
    """What to encode. `stamps` are presentation times in units of 1/1000 s."""

    name: str
    frames: int = 50
    codec: str = "libx264"
    pixels: str = "yuv420p"
    width: int = WIDTH
    height: int = HEIGHT
    stamps: Sequence[int] | None = None
    rotation: int = 0
    options: dict[str, str] = field(default_factory=lambda: {"crf": "12", "preset": "veryfast"})
    container: dict[str, str] = field(default_factory=dict)
    matrix: Colorspace | None = None
    full_range: bool = False
    shift: int = 0  # frames by which all packets are moved: negative ones are hidden by an edit list
    sound: Sound | None = None

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        with av.open(str(path), "w", container_options=self.container) as output:
            packets = [*self._pictures(output), *self._sound(output)]
            for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
                output.mux(packet)
        return path

    def _pictures(self, output: av.container.OutputContainer) -> Iterator[av.Packet]:
        if not self.frames:
            return
        stream = output.add_stream(self.codec, rate=FPS, options=self.options)
        stream.width, stream.height, stream.pix_fmt = self.width, self.height, self.pixels
        stream.codec_context.time_base = Fraction(1, 1000)
        if self.rotation:
            stream.set_display_rotation(self.rotation)
        if self.matrix is not None:
            stream.codec_context.colorspace = int(self.matrix)
            stream.codec_context.color_range = 2 if self.full_range else 1
        base = Fraction(1, 1000)
        stamps = self.stamps or [1000 * i // FPS for i in range(self.frames)]
        for index, stamp in enumerate(stamps):
            frame = self._frame(index)
            frame.pts, frame.time_base = stamp, base
            yield from self._shifted(stream.encode(frame))
        yield from self._shifted(stream.encode(None))

    def _frame(self, index: int) -> av.VideoFrame:
        frame = av.VideoFrame.from_ndarray(picture(index, self.width, self.height), format="rgb24")
        if self.matrix is None:
            return frame.reformat(format=self.pixels)
        span = ColorRange.JPEG if self.full_range else ColorRange.MPEG
        return frame.reformat(format=self.pixels, dst_colorspace=self.matrix, dst_color_range=span)

    def _shifted(self, packets: list[av.Packet]) -> Iterator[av.Packet]:
        for packet in packets:
            ticks = round(Fraction(self.shift, FPS) / packet.time_base)
            packet.pts, packet.dts = packet.pts + ticks, packet.dts + ticks
            yield packet

    def _sound(self, output: av.container.OutputContainer) -> Iterator[av.Packet]:
        if self.sound is None:
            return
        stream = output.add_stream(self.sound.codec, rate=self.sound.rate)
        stream.layout = "mono" if len(self.sound.gains) == 1 else "stereo"
        kind = stream.codec_context.format.name
        samples, base = self.sound.samples(), Fraction(1, self.sound.rate)
        first = round(self.sound.start * self.sound.rate)
        for begin in range(0, samples.shape[1], 1024):
            part = np.ascontiguousarray(samples[:, begin : begin + 1024])
            if kind == "s16":
                part = np.rint(part.T * 32767).astype(np.int16).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(part, format=kind, layout=stream.layout.name)
            frame.sample_rate, frame.pts, frame.time_base = self.sound.rate, first + begin, base
            yield from stream.encode(frame)
        yield from stream.encode(None)


def nine_channels(path: Path, seconds: float = 1.0, mute: bool = False) -> Path:
    """A second of pictures with sound in nine channels, of which nobody says where they stand; or without sound."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as output:
        video = output.add_stream("libx264", rate=25, options={"crf": "12"})
        video.width, video.height, video.pix_fmt = 96, 64, "yuv420p"
        audio = None if mute else output.add_stream("pcm_s16le", rate=16_000)
        if audio is not None:
            audio.layout = AudioLayout("9 channels")
        for index in range(25):
            output.mux(video.encode(av.VideoFrame.from_ndarray(picture(index), format="rgb24")))
        output.mux(video.encode(None))
        if audio is not None:
            samples = np.zeros((1, 9 * round(seconds * 16_000)), np.int16)
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout=audio.layout)
            frame.sample_rate, frame.pts = 16_000, 0
            output.mux(audio.encode(frame))
            output.mux(audio.encode(None))
    return path


VFR = [0, 40, 80, 200, 240, 280, 320, 500, 520, 540, 900, 940]

CLIPS = [
    Clip("plain.mp4", sound=Sound()),
    Clip("vfr.mp4", stamps=VFR, frames=len(VFR)),
    Clip("vfr.mkv", stamps=VFR, frames=len(VFR)),
    Clip("turned90.mp4", rotation=90),
    Clip("turned180.mp4", rotation=180),
    Clip("turned270.mp4", rotation=270),
    Clip("tenbit.mp4", codec="libx265", pixels="yuv420p10le", options={"crf": "12", "x265-params": "log-level=none"}),
    Clip("full_chroma.mp4", pixels="yuv444p"),
    Clip("interlaced.mp4", options={"crf": "12", "x264-params": "interlaced=1"}),
    Clip("edited.mp4", shift=-10, options={"crf": "12", "g": "50"}),
    Clip("bframes.avi", codec="mpeg4", options={"bf": "2", "b": "4000000"}),
    Clip("h264.avi", options={"crf": "12", "bf": "2"}),
    Clip("stream.ts", sound=Sound()),
    Clip("raw.h264"),
    Clip("vp9.webm", codec="libvpx-vp9", options={"crf": "20", "cpu-used": "8", "deadline": "realtime"}),
    Clip("av1.mp4", codec="libsvtav1", options={"preset": "12", "crf": "20"}),
    Clip("moving.gif", codec="gif", pixels="rgb8", options={}),
    Clip("one.mp4", frames=1),
    Clip("odd_size.mp4", pixels="yuv444p", width=97, height=63),
    Clip("bt709.mp4", matrix=Colorspace.ITU709),
    Clip("bt709_full.mp4", matrix=Colorspace.ITU709, full_range=True),
    Clip("bt601_full.mp4", matrix=Colorspace.SMPTE170M, full_range=True),
    Clip("silent.mp4", sound=Sound(gains=(0.0, 0.0))),
    Clip("short_sound.mp4", sound=Sound(seconds=1.0)),
    Clip("long_sound.mp4", sound=Sound(seconds=3.0)),
    Clip("late_sound.mkv", sound=Sound(seconds=1.0, start=0.5, codec="pcm_s16le")),
    Clip("mono16k.mkv", sound=Sound(rate=16_000, gains=(0.5,), codec="pcm_s16le")),
    Clip("left_only.mkv", sound=Sound(gains=(0.5, 0.0), codec="pcm_s16le")),
    Clip("sound.m4a", frames=0, sound=Sound()),
    Clip("faststart.mp4", container={"movflags": "faststart"}, options={"crf": "12", "g": "10"}),
    Clip("whole.mkv", options={"crf": "12", "g": "10"}),
]


def _cut(source: str, share: float) -> Callable[[Path], bytes]:
    def make(folder: Path) -> bytes:
        data = (folder / source).read_bytes()
        return data[: int(len(data) * share)]

    return make


def _scramble(source: str, at: float, count: int) -> Callable[[Path], bytes]:
    def make(folder: Path) -> bytes:
        data = bytearray((folder / source).read_bytes())
        start = int(len(data) * at)
        data[start : start + count] = bytes((7 * byte + 13) % 256 for byte in data[start : start + count])
        return bytes(data)

    return make


def huge_gif(width: int = 65_535, height: int = 65_535) -> bytes:
    """Forty bytes that ask for a picture of four gigapixels."""
    screen = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6)
    return screen + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + bytes([2, 2, 0x44, 1, 0]) + b";"


DAMAGED: dict[str, Callable[[Path], bytes]] = {
    "truncated.mp4": _cut("plain.mp4", 0.6),
    "truncated_faststart.mp4": _cut("faststart.mp4", 0.6),
    "truncated.mkv": _cut("whole.mkv", 0.6),
    "corrupt.ts": _scramble("stream.ts", 0.5, 1500),
    "corrupt.mp4": _scramble("faststart.mp4", 0.5, 1500),
    "empty.mp4": lambda folder: b"",
    "text.mp4": lambda folder: b"Good morning, this is not a video\n" * 50,
    "playlist.mp4": lambda folder: f"#EXTM3U\n#EXTINF:2,\n{folder / 'stream.ts'}\n#EXT-X-ENDLIST\n".encode(),
    "concat.mp4": lambda folder: f"ffconcat version 1.0\nfile '{folder / 'plain.mp4'}'\n".encode(),
    "noise.mp4": lambda folder: b"\0\0\0\x18ftypisom" + np.random.default_rng(0).bytes(5000),
    "huge.gif": lambda folder: huge_gif(),
}


REAL_TIME = "libsvtav1"
"""An encoder that makes its process a real-time one (SCHED_FIFO) where it may: later tests would starve the machine."""


def _elsewhere(clip: Clip, folder: Path) -> None:
    """Write a clip in a process of its own."""
    child = multiprocessing.get_context("spawn").Process(target=clip.write, args=(folder,))
    child.start()
    child.join()
    assert child.exitcode == 0


def make_all(folder: Path) -> Path:
    """Write every clip and every damaged file into a folder."""
    for clip in CLIPS:
        if clip.codec == REAL_TIME:
            _elsewhere(clip, folder)
        else:
            clip.write(folder)
    for name, make in DAMAGED.items():
        (folder / name).write_bytes(make(folder))
    (folder / "folder.mp4").mkdir()
    return folder
