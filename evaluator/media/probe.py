"""Facts of one file from its packet table: nothing but the first picture and the first sound is decoded.

Exact frame times and count come from the packets' presentation times, without those that an edit list hides. Where the
table cannot be trusted (AVI, raw streams, missing or repeated time stamps, damaged packets, leading pictures that the
decoder drops) the frames are counted by one decode and `indexed_by` says so. Knows no views.

Rotation and colour tags belong to decoded pictures in FFmpeg, so the first one is decoded for them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.sidedata.sidedata import Type as SideDataType
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from evaluator.errors import MediaError
from evaluator.media.container import MediaFrame, MediaPacket, MediaStream, open_media, packets, streams
from evaluator.media.decoding import UNTIMED, Stamp, StreamDecoder, seconds, timeline
from evaluator.media.limits import LIMITS, Limits
from evaluator.media.reading import Reading, reading
from evaluator.media.types import F64, AudioInfo, ClipInfo, VideoInfo

MATRICES = {0: "rgb", 1: "bt709", 4: "fcc", 7: "smpte240m", 8: "ycgco", 9: "bt2020", 10: "bt2020c"}
"""AVColorSpace -> name. The rest, untagged (2) included, is converted as BT.601, which is FFmpeg's default."""

IDENTITY = (1, 0, 0, 0, 1, 0, 0, 0, 1)
"""Display matrix of a picture that carries none."""

FULL_RANGE = 2
"""AVCOL_RANGE_JPEG."""

MOST_PROMISED = 2**31 - 1
"""What a count of frames can be, whatever a header says."""

SHORTFALL = 0.25
"""Seconds by which the packets may end before the time that the header says, without a note."""


@dataclass(slots=True)
class _Table:
    """The packets of one stream: stamps of those that are shown, which of them are keys, the first frame that comes."""

    stamps: list[Stamp] = field(default_factory=list)
    keys: set[int | None] = field(default_factory=set)
    damaged: int = 0
    hidden: int = 0
    first: MediaFrame | None = None
    refused: MediaError | None = None  # why nothing of the stream is looked at

    def add(self, packet: MediaPacket, first: MediaFrame | None) -> None:
        self.first = first
        self.hidden += bool(packet.size and packet.is_discard)
        if packet.size and not packet.is_discard:
            self.stamps.append((packet.pts, packet.duration or 0))
            self.keys.update({packet.pts} if packet.is_keyframe else ())
            self.damaged += packet.is_corrupt

    @property
    def holds(self) -> bool:
        """Whether there is anything in the stream, usable or not."""
        return bool(self.stamps) or self.refused is not None

    @property
    def known(self) -> list[tuple[int, int]]:
        """Stamps that exist, in presentation order."""
        return sorted((stamp, duration) for stamp, duration in self.stamps if stamp is not None)

    @property
    def key_places(self) -> list[int]:
        """Places of the key frames among the known stamps."""
        return [place for place, (stamp, _) in enumerate(self.known) if stamp in self.keys]

    @property
    def exact(self) -> bool:
        """Whether every shown packet has a time of its own and the decoder starts with the earliest."""
        times = {stamp for stamp, _ in self.known}
        return len(times) == len(self.stamps) and not self.damaged and self.first_stamp == min(times)

    @property
    def first_stamp(self) -> int | None:
        return self.first.pts if self.first is not None else None


def probe(source: Path | Reading, limits: Limits = LIMITS) -> ClipInfo:
    """Facts of a media file. From a `Reading`, whose limits count then, its frames can be had without a second opening.

    Raises MediaError with one of the codes `missing`, `not_a_file`, `unreadable`, `empty`, `not_media`, `incomplete`,
    `corrupt`, `no_streams`, `unsupported_codec`, `unsupported_rotation`, `no_times`, `too_large`; the message names the
    file and what to do. A file that ends early but can be read has a note `truncated ...` instead.
    """
    with reading(source, limits) as file:
        path, limits, container, (video, audio) = file.path, file.limits, file.container, file.streams
        tables = {stream: _Table() for stream in (video, audio) if stream is not None}
        notes = _read(file, tables) if tables else []
        if not any(table.holds for table in tables.values()):
            raise MediaError("no_streams", f"{path} holds no pictures and no sound; generate or copy it again")
        pictures = sound = None
        damaged: dict[str, MediaError] = {}
        try:
            pictures = _video(path, video, tables[video], limits) if video and tables[video].holds else None
        except MediaError as error:
            if error.code == "too_large":  # a file that asks for too much is refused as a whole
                raise
            damaged["video"] = error
        try:
            sound = _audio(path, audio, tables[audio]) if audio and tables[audio].holds else None
        except MediaError as error:
            damaged["audio"] = error
        if damaged and pictures is None and sound is None:
            raise next(iter(damaged.values()))
        notes += _early_end(container, tables)
        told = tuple((kind, error.code, str(error)) for kind, error in damaged.items())
        return ClipInfo(container.format.name, pictures, sound, tuple(notes), told)


def _read(file: Reading, tables: Mapping[MediaStream, _Table]) -> list[str]:
    """Fill the tables with every packet of the file; return what went wrong on the way."""
    path, limits = file.path, file.limits
    budget = path.stat().st_size * limits.packet_bytes_ratio + limits.packet_bytes_slack
    for stream, table in tables.items():
        table.refused = _without_decoder(path, stream)
    for packet in file.packets():
        table = tables[packet.stream]
        if table.refused is None:
            if table.first is None and isinstance(packet.stream, VideoStream):
                _check_picture(path, packet.stream.width, packet.stream.height, limits)
            table.add(packet, file.look(packet))
            table.refused = _too_many(path, packet.stream, len(table.stamps), limits)
        budget -= packet.size
        if budget < 0:
            raise MediaError("too_large", f"{path} holds more packets than {limits}")
    return list(file.notes)


def _without_decoder(path: Path, stream: MediaStream) -> MediaError | None:
    """Why a stream cannot be decoded at all; None if it can."""
    if stream.codec_context is not None:
        return None
    why = f"its {stream.type} stream has a codec that FFmpeg cannot decode; encode it as another one"
    return MediaError("unsupported_codec", f"{path}: {why}")


def _too_many(path: Path, stream: MediaStream, count: int, limits: Limits) -> MediaError | None:
    """Why no more packets of a stream are looked at; None if they may be. Raises it for pictures: see `probe`."""
    if count <= limits.frames:
        return None
    error = MediaError("too_large", f"{path} holds more {stream.type} packets than {limits}")
    if isinstance(stream, VideoStream):
        raise error
    return error


def _video(path: Path, stream: VideoStream, table: _Table, limits: Limits) -> VideoInfo:
    if table.refused is not None:
        raise table.refused
    frame = table.first
    if not isinstance(frame, VideoFrame):
        cause = f"it is damaged, or its pictures have more than {limits.pixels} pixels"
        raise MediaError("corrupt", f"{path}: no picture can be decoded: {cause}; generate or copy it again")
    by_packets = table.exact and stream.container.format.name not in UNTIMED
    most = min(limits.frames, limits.total_pixels // (frame.width * frame.height))
    by_packet = (*timeline(stream, table.known), table.key_places) if by_packets else None
    times, end, keys = by_packet or times_by_decode(path, limits, most)
    _check_picture(path, frame.width, frame.height, limits)
    rotation = _rotation(path, frame)
    upright = rotation % 180 == 0
    aspect = stream.sample_aspect_ratio or Fraction(1)
    info = VideoInfo(
        codec=stream.codec_context.name,
        width=frame.width if upright else frame.height,
        height=frame.height if upright else frame.width,
        pixel_format=frame.format.name,
        matrix="rgb" if frame.format.is_rgb else MATRICES.get(frame.colorspace, "bt601"),
        full_range=frame.color_range == FULL_RANGE or frame.format.is_rgb,
        rotation=rotation,
        sample_aspect=aspect.as_integer_ratio() if upright else (1 / aspect).as_integer_ratio(),
        times=times,
        duration=end - float(times[0]),
        interlaced=frame.interlaced_frame,
        indexed_by="packets" if by_packets else "decode",
        promised=_promised(stream),
        keys=np.array(keys, np.int64),
        hidden=table.hidden,
    )
    _check_whole(path, info, limits)
    return info


def _promised(stream: VideoStream) -> int:
    """Frames by the header alone, as OpenCV counts them: its count, else its duration times its rate, rounded.

    A header may claim anything: what it says is cut to what a count can be.
    """
    length = getattr(stream.container, "duration", None) or 0  # microseconds; a container that is read has one
    by_length = math.floor(length / av.time_base * float(stream.guessed_rate or 0) + 0.5)
    return max(0, min(stream.frames or by_length, MOST_PROMISED))


def _rotation(path: Path, frame: VideoFrame) -> int:
    """Degrees clockwise by which the picture must be turned for display: 0, 90, 180 or 270."""
    side_data: Any = frame.side_data  # PyAV's stub knows motion vectors only
    stored = side_data.get(SideDataType.DISPLAYMATRIX)
    a, b, _, c, d, *_ = struct.unpack("=9i", bytes(stored)) if stored is not None else IDENTITY
    if a * d - b * c <= 0 or frame.rotation % 90:
        message = f"{path} is to be shown mirrored or turned by {-frame.rotation} degrees; expected 0, 90, 180 or 270"
        raise MediaError("unsupported_rotation", message)
    return -frame.rotation % 360


def times_by_decode(path: Path, limits: Limits, most: int) -> tuple[F64, float, list[int]]:
    """Times [N] and the end of the last frame, in seconds, and which are key frames: every picture is decoded."""
    stamps: list[Stamp] = []
    keys: list[int] = []
    with open_media(path, limits) as container:
        stream, _ = streams(container)
        assert stream is not None  # noqa: S101  (the caller found it a moment ago)
        decoder = StreamDecoder(stream, limits)
        for packet in packets(container, stream):
            if not isinstance(packet, FFmpegError):
                for frame in decoder.decode(packet):
                    keys += [len(stamps)] if isinstance(frame, VideoFrame) and frame.key_frame else []
                    stamps.append((frame.pts, frame.duration))
            if len(stamps) > most:
                raise MediaError("too_large", f"{path} holds more than {most} frames, too many for their size")
        return *timeline(stream, stamps), keys


def _audio(path: Path, stream: AudioStream, table: _Table) -> AudioInfo:
    if table.refused is not None:
        raise table.refused
    frame = table.first
    if not isinstance(frame, AudioFrame) or not table.known:
        raise MediaError("corrupt", f"{path}: its audio stream cannot be decoded; generate or copy it again")
    start = seconds(frame.pts if frame.pts is not None else table.known[0][0], stream)
    end = seconds(max(map(sum, table.known)), stream)
    return AudioInfo(
        stream.codec_context.name, frame.sample_rate, frame.layout.nb_channels, start, max(0.0, end - start)
    )


def _early_end(container: InputContainer, tables: Mapping[MediaStream, _Table]) -> list[str]:
    """A note if the header promises more than the packets hold (a download that stopped)."""
    known = [(stream, table.known) for stream, table in tables.items() if table.known]
    if not known or container.duration is None or any(table.refused for table in tables.values()):
        return []
    start = min(seconds(stamps[0][0], stream) for stream, stamps in known)
    end = max(seconds(max(map(sum, stamps)), stream) for stream, stamps in known)
    promised = container.duration / av.time_base
    if promised - (end - start) <= SHORTFALL:
        return []
    return [f"truncated: the header says {promised:.3f} s, the packets end after {end - start:.3f} s"]


def _check_picture(path: Path, width: int, height: int, limits: Limits) -> None:
    """Refuse a picture that is too large before a decoder sees it."""
    if width * height > limits.pixels:
        raise MediaError("too_large", f"{path} has pictures of {width} x {height}; at most {limits.pixels} pixels")


def _check_whole(path: Path, video: VideoInfo, limits: Limits) -> None:
    """Refuse a clip that would take hours to decode."""
    pixels = video.frames * video.width * video.height
    if video.duration > limits.seconds or pixels > limits.total_pixels:
        size = f"{video.frames} frames of {video.width} x {video.height}, {video.duration:.1f} s"
        raise MediaError("too_large", f"{path} has {size}; at most {limits.seconds} s and {limits.total_pixels} pixels")
