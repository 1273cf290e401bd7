"""What decoding costs when it makes the pictures that metrics want and does nothing else.

Each file of a run is decoded again as in `decoders.pyav`, and of each frame the wanted pictures are made by the same
calls of FFmpeg's scaler, OpenCV and Pillow, and dropped. A media stage cannot be cheaper than this as long as it makes
these pictures. It is more than the sum of both: pictures push the decoder's reference frames out of the processor's
caches. Knows no metric.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from pathlib import Path

import av

from evaluator.bench.decoders import REPEATS
from evaluator.bench.passes import Pass
from evaluator.media.decode import picked
from evaluator.media.types import VideoInfo
from evaluator.media.views import Renderer, transform_of
from evaluator.schema import View

Plan = dict[int, set[View]]
"""Position of a frame -> the transforms that somebody wants of it."""


def seconds(passes: Iterable[Pass]) -> float:
    """CPU seconds of decoding with the wanted pictures: per file the median of several."""
    return sum(
        statistics.median(_seconds(one.path, one.info.video, _plan(one, one.info.video)) for _ in range(REPEATS))
        for one in passes
        if one.info.video is not None
    )


def _plan(one: Pass, video: VideoInfo) -> Plan:
    plan: Plan = {}
    for view, _ in one.taps:
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
