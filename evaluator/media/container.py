"""Opens one media file with PyAV, or says in plain words why it cannot be opened.

Only demuxers that read a single local file are allowed: a playlist or a concat script that calls itself clip.mp4 can
reach neither another file nor the network. Knows nothing about frames, views or sampling.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

import av
from av.audio.frame import AudioFrame
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.packet import Packet
from av.stream import Discard, Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from evaluator.errors import MediaError
from evaluator.media.limits import Limits

MediaStream = VideoStream | AudioStream
MediaPacket: TypeAlias = "Packet[VideoStream] | Packet[AudioStream]"  # generic for type checkers only
MediaFrame = VideoFrame | AudioFrame

DEMUXERS = (
    "mov,matroska,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,av1,obu,ivf,flv,gif,ogg,asf,mxf,nut,yuv4mpegpipe,"
    "wav,w64,caf,aiff,mp3,flac,aac,ac3,eac3,amr,"
    "png_pipe,jpeg_pipe,webp_pipe"
)
"""libavformat demuxers that may open a clip. A still picture is a clip of one frame; none of them follows a name."""

SIGNATURES: tuple[tuple[int, bytes], ...] = (
    *((4, name) for name in (b"ftyp", b"moov", b"mdat", b"moof", b"styp", b"free", b"skip", b"wide", b"pnot")),
    (0, b"\x1aE\xdf\xa3"),  # Matroska, WebM
    (0, b"RIFF"),
    (0, b"OggS"),
    (0, b"FLV\x01"),
    (0, b"GIF8"),
    (0, b"\x00\x00\x01"),  # MPEG program or elementary stream
    (0, b"\x00\x00\x00\x01"),  # H.264, HEVC
    (188, b"G"),  # MPEG transport stream: every packet of 188 bytes begins so
    (0, b"\x30\x26\xb2\x75"),  # ASF
    (0, b"fLaC"),
    (0, b"ID3"),
    (0, b"DKIF"),  # IVF
    (0, b"\x89PNG"),
    (0, b"\xff\xd8\xff"),  # JPEG
)
"""(offset, bytes) that tell a damaged media file from something that never was one."""

STILLS: tuple[tuple[bytes, str], ...] = (
    (rb"\x89PNG", "png_pipe"),
    (rb"\xff\xd8\xff", "jpeg_pipe"),
    (rb"RIFF....WEBP", "webp_pipe"),
)
"""Beginning of a still picture and its demuxer: by its name FFmpeg would take it for one of a sequence of files."""

HEAD = 192  # bytes that hold every signature

BOX_HEADER = 8  # bytes: size and name of an ISO box
BOXES = 100_000  # that are looked at in one file: a hostile one could hold hundreds of millions


def open_media(path: Path, limits: Limits) -> InputContainer:
    """An open container; the caller closes it.

    Raises MediaError `missing`, `not_a_file`, `unreadable`, `empty`, `not_media`, `incomplete` or `corrupt`.
    """
    head = _read_head(path)
    options = {
        "format_whitelist": DEMUXERS,
        "protocol_whitelist": "file",
        "max_pixels": str(limits.decoder_pixels),
        "threads": "1",
    }
    try:
        return av.open(str(path.absolute()), mode="r", format=_still(head), options=options, metadata_errors="replace")
    except FFmpegError as error:
        raise _explain(path, head, error) from error


def _still(head: bytes) -> str | None:
    """The demuxer of a still picture; None lets FFmpeg find out."""
    return next((name for start, name in STILLS if re.match(start, head, re.DOTALL)), None)


def streams(container: InputContainer) -> tuple[VideoStream | None, AudioStream | None]:
    """First video stream that is not cover art, and first audio stream."""
    video = [stream for stream in container.streams.video if not stream.disposition & Disposition.attached_pic]
    audio = container.streams.audio
    return next(iter(video), None), next(iter(audio), None)


def packets(container: InputContainer, *wanted: MediaStream) -> Iterator[MediaPacket | FFmpegError]:
    """Packets of the wanted streams in file order, then one empty packet per stream to flush its decoder.

    A read error ends the stream of packets, as it does in FFmpeg: the error itself is yielded, then the flush packets.
    """
    for stream in container.streams:
        if stream not in wanted:
            stream.discard = Discard.all
    try:
        yield from cast("Iterator[MediaPacket]", container.demux(wanted))
    except (FFmpegError, IndexError) as error:  # IndexError: PyAV trips over streams that appear while it reads
        if isinstance(error, FFmpegError):
            yield error
        yield from (_flush_packet(stream) for stream in wanted)


def _flush_packet(stream: MediaStream) -> MediaPacket:
    packet: Packet[Any] = Packet()
    packet.stream = stream
    return packet


def _read_head(path: Path) -> bytes:
    """First bytes of a regular, readable, non-empty file."""
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            kind = "a directory" if stat.S_ISDIR(mode) else "not a regular file"
            raise MediaError("not_a_file", f"{path} is {kind}; expected a media file")
        with path.open("rb") as file:
            head = file.read(HEAD)
    except FileNotFoundError as error:
        raise MediaError("missing", f"{path} does not exist; check the path in the manifest") from error
    except OSError as error:
        message = f"{path} cannot be read ({error.strerror}); give the user that runs this read access to it"
        raise MediaError("unreadable", message) from error
    if not head:
        raise MediaError("empty", f"{path} has zero bytes; expected a media file, generate or copy it again")
    return head


def _explain(path: Path, head: bytes, error: FFmpegError) -> MediaError:
    """The reason why a file that exists could not be opened."""
    if not any(head[offset : offset + len(mark)] == mark for offset, mark in SIGNATURES):
        return MediaError("not_media", f"{path} is not an audio or video file that can be read ({error.strerror})")
    missing = missing_bytes(path)
    if missing:
        message = f"{path} is cut off: {missing} bytes are missing at its end; generate or copy it again"
        return MediaError("incomplete", message)
    return MediaError("corrupt", f"{path} cannot be opened ({error.strerror}); generate or copy it again")


def missing_bytes(path: Path) -> int:
    """How many bytes an ISO (mp4, mov) file promises beyond its end.

    0 if none, if it is another kind of file, or if it has more boxes than anybody would write.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        position, header = 0, file.read(BOX_HEADER)
        if header[4:8] not in {mark for offset, mark in SIGNATURES if offset == len(b"size")}:
            return 0
        for _ in range(BOXES):
            if position + BOX_HEADER > size:
                return max(0, position - size)
            position += _box_size(file, position, size)
    return 0


def _box_size(file: BinaryIO, position: int, end: int) -> int:
    """Bytes of the ISO box that begins at `position`; at least a header, so that a walk always advances."""
    file.seek(position, os.SEEK_SET)
    short = int.from_bytes(file.read(4))
    if short == 1:  # the size is a 64-bit number behind the name
        file.seek(4, os.SEEK_CUR)
        return max(BOX_HEADER, int.from_bytes(file.read(8)))
    return end - position if short == 0 else max(BOX_HEADER, short)
