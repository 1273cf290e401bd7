"""One file, opened and read once: the probe looks through it, and the pass goes on where the probe stopped decoding.

To look at a packet is to decode its stream up to the first frame and to keep what comes behind, coded as it is. A file
with more of that than fits is opened a second time for its frames. Knows nothing about facts, views or samples.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from av.audio.stream import AudioStream
from av.container import InputContainer
from av.error import FFmpegError
from av.video.stream import VideoStream

from evaluator.media.container import MediaFrame, MediaPacket, MediaStream, open_media, packets, streams
from evaluator.media.decoding import StreamDecoder
from evaluator.media.limits import LIMITS, Limits

KEPT = 16 << 20
"""Most bytes of packets that wait: twelve seconds of 1080p at 8 Mbit/s."""

HEADER = 4 << 10
"""Bytes that a packet counts for beside its content: where a demuxer takes every packet from a large buffer of its own
(MPEG-TS without lengths), a few bytes take 3 KB."""


class Reading:
    """A file that is being read, opened when it is first asked for something. Close it, or use it in a `with`.

    Whatever opens the file raises what `open_media` does.
    """

    def __init__(self, path: Path, limits: Limits = LIMITS) -> None:
        self.path = path
        self.limits = limits
        self._container: InputContainer | None = None
        self._forget()

    def _forget(self) -> None:
        self.notes: list[str] = []  # what went wrong while packets were read
        self._decoders: dict[MediaStream, StreamDecoder] = {}
        self._first: dict[MediaStream, MediaFrame] = {}
        self._ahead: list[tuple[MediaStream, MediaFrame]] = []
        self._waiting: deque[MediaPacket] = deque()
        self._wanted: list[MediaStream] = []  # of the pass that goes on
        self._room = KEPT  # bytes; below zero: packets were let go
        self._looked = self._spent = False

    def __enter__(self) -> Reading:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the file go, and every packet and decoder of it first."""
        self._forget()
        if self._container is not None:
            self._container.close()
            self._container = None

    @property
    def container(self) -> InputContainer:
        """The open file."""
        if self._container is None:
            self._container = open_media(self.path, self.limits)
        return self._container

    @property
    def streams(self) -> tuple[VideoStream | None, AudioStream | None]:
        """Its first stream of pictures that is not cover art, and its first of sound."""
        return streams(self.container)

    def packets(self) -> Iterator[MediaPacket]:
        """Every packet of both streams in file order, each for `look`."""
        self._looked = True
        yield from self._read([stream for stream in self.streams if stream is not None])

    def look(self, packet: MediaPacket) -> MediaFrame | None:
        """The first frame of the packet's stream, once it is known. The packet is decoded or kept."""
        stream = packet.stream
        if stream in self._first:
            self._keep(packet)
        else:
            for frame in self._decoder(stream).decode(packet):
                self._first.setdefault(stream, frame)
                self._ahead.append((stream, frame))
        return self._first.get(stream)

    def frames(self, pictures: bool, sound: bool) -> Iterator[tuple[MediaStream, MediaFrame]]:
        """Every frame of the wanted streams, until `forgo`. A damaged packet is skipped, and noted in the end."""
        if self._spent or self._room < 0:
            self.close()
        self._spent = True
        wanted = [stream for stream, use in zip(self.streams, (pictures, sound), strict=True) if stream and use]
        self._wanted = wanted
        if self._looked:
            yield from (one for one in self._ahead if one[0] in wanted)
        for packet in self._kept() if self._looked else self._read([*wanted]):
            if packet.stream in wanted:
                for frame in self._decoder(packet.stream).decode(packet):
                    yield packet.stream, frame
        for stream in wanted:
            if errors := self._decoder(stream).errors:
                self.notes.append(f"{errors} {stream.type} packets could not be decoded")

    def forgo(self, stream: MediaStream) -> None:
        """Decode no more of a stream in this pass."""
        if stream in self._wanted:
            self._wanted.remove(stream)

    def _read(self, wanted: list[MediaStream]) -> Iterator[MediaPacket]:
        for packet in packets(self.container, *wanted):
            if isinstance(packet, FFmpegError):
                self.notes.append(f"read error: {packet.strerror}")
            else:
                yield packet

    def _decoder(self, stream: MediaStream) -> StreamDecoder:
        if stream not in self._decoders:
            self._decoders[stream] = StreamDecoder(stream, self.limits)
        return self._decoders[stream]

    def _keep(self, packet: MediaPacket) -> None:
        beside = sum(data.data_size for data in packet.iter_sidedata())  # as large as the file likes in Matroska
        self._room -= packet.size + beside + HEADER
        self._waiting.append(packet)
        if self._room < 0:
            self._waiting.clear()

    def _kept(self) -> Iterator[MediaPacket]:
        """What waits, let go as it is decoded."""
        while self._waiting:
            yield self._waiting.popleft()


@contextmanager
def reading(source: Path | Reading, limits: Limits) -> Iterator[Reading]:
    """The reading of a file: one that somebody else has begun and will close, or a new one."""
    if isinstance(source, Reading):
        yield source
    else:
        with Reading(source, limits) as own:
            yield own
