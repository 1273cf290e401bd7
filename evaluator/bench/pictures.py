"""What the pictures that metrics want cost by themselves: the conversions, without decoding and with nothing around.

A run is watched for the views that its passes over files feed. Each wanted picture is then made once more, from a
decoded frame, by the same calls of FFmpeg's scaler, OpenCV and Pillow. Raw decoding and this are what a media stage
cannot be cheaper than as long as it makes these pictures. Knows no metric.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import av

from evaluator.media.decode import picked
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
        """CPU seconds of all wanted pictures, made on ready frames."""
        return sum(_seconds(*one) for one in self.passes)

    def _decode(
        self, path: Path, info: ClipInfo, taps: Sequence[tuple[View, FrameTap]], audio: Sequence[AudioView]
    ) -> tuple[dict[AudioView, Audio], DecodeReport]:
        if info.video is not None:
            self.passes.append((path, info.video, _plan(info.video, [view for view, _ in taps])))
        return CPU.decode(path, info, taps, audio)


def _plan(video: VideoInfo, views: Sequence[View]) -> Plan:
    plan: Plan = {}
    for view in views:
        for position in picked(view, video).tolist():
            plan.setdefault(position, set()).add(transform_of(view))
    return plan


def _seconds(path: Path, video: VideoInfo, plan: Plan) -> float:
    renderer, total = Renderer(video), 0.0
    with av.open(path) as container:
        container.streams.video[0].codec_context.thread_count = 1
        for position, frame in enumerate(container.decode(video=0)):
            start = time.thread_time()
            renderer.start(frame)
            for view in plan.get(position, ()):
                renderer.picture(view)
            total += time.thread_time() - start
    return total
