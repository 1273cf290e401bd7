"""What decoding costs when it makes the pictures that metrics want and does nothing else.

A run is watched for the views that its passes over files feed. Each file is then decoded as in `decoders.pyav`, and of
each frame the wanted pictures are made by the same calls of FFmpeg's scaler, OpenCV and Pillow, and dropped. A media
stage cannot be cheaper than this as long as it makes these pictures. It is more than the sum of both: pictures push the
decoder's reference frames out of the processor's caches. Knows no metric.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import av

from evaluator.bench.decoders import REPEATS
from evaluator.media.decode import picked
from evaluator.media.reading import Reading
from evaluator.media.types import Audio, ClipInfo, DecodeReport, FrameTap, VideoInfo
from evaluator.media.views import Renderer, transform_of
from evaluator.runner.equipment import CPU, Equipment
from evaluator.schema import AudioView, View

Plan = dict[int, set[View]]
"""Position of a frame -> the transforms that somebody wants of it."""


@dataclass(slots=True)
class Watch:
    """The wanted pictures of every pass of a run. One worker only."""

    passes: list[tuple[Path, VideoInfo, Plan]] = field(default_factory=list)

    @property
    def equipment(self) -> Equipment:
        """The CPU's equipment, watched."""
        return replace(CPU, decode=self._decode)

    def seconds(self) -> float:
        """CPU seconds of decoding with the wanted pictures: per file the median of several."""
        return sum(statistics.median(_seconds(*one) for _ in range(REPEATS)) for one in self.passes)

    def _decode(
        self, file: Path | Reading, info: ClipInfo, taps: Sequence[tuple[View, FrameTap]], audio: Sequence[AudioView]
    ) -> tuple[dict[AudioView, Audio], DecodeReport]:
        if info.video is not None:
            path = file.path if isinstance(file, Reading) else file
            self.passes.append((path, info.video, _plan(info.video, [view for view, _ in taps])))
        return CPU.decode(file, info, taps, audio)


def _plan(video: VideoInfo, views: Sequence[View]) -> Plan:
    plan: Plan = {}
    for view in views:
        for position in picked(view, video).tolist():
            plan.setdefault(position, set()).add(transform_of(view))
    return plan


def _seconds(path: Path, video: VideoInfo, plan: Plan) -> float:
    renderer, position = Renderer(video), 0
    drawings = {position: [renderer.drawing(view) for view in views] for position, views in plan.items()}
    start = time.thread_time()
    with av.open(path) as container:
        for stream in container.streams:
            stream.codec_context.thread_count = 1
        for frame in (frame for packet in container.demux() for frame in packet.decode()):
            if isinstance(frame, av.VideoFrame):
                renderer.start(frame)
                for drawing in drawings.get(position, ()):
                    renderer.picture(drawing)
                position += 1
    return time.thread_time() - start
