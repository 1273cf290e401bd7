"""The usual flow, written plainly: one process per metric and case.

    python -m evaluator.bench.rival METRIC RESULT.json ROLE=CLIP...

As published evaluators do it (cost model in AVE-Compass's and similar repositories): the process opens each clip with
OpenCV, jumps to each sampled frame (or reads all of them where the metric looks at most of them), loads its network
with ONNX Runtime, computes its one metric, and writes a JSON file. Networks, samplings, sizes and arithmetic are those
of this project, so that only the flow differs; and it is a generous rival: no torch to import (2.5 CPU s each), no copy
of the clip, no JPEG dump, no re-encoding, no FFmpeg processes.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from PIL import Image

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert, StreamingExpert
from evaluator.media.sampling import select
from evaluator.media.types import I64, U8, Audio, AudioInfo, ClipInfo, FrameChunk, Frames, VideoInfo
from evaluator.media.views import scaled_size
from evaluator.runtime.onnx import CPU, inference_session, session_options
from evaluator.runtime.session import Array, Session
from evaluator.runtime.store import Store
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Filter, Fit, FramesNeed, Need, View


class PlainSession:
    """A network with the options of ours: on one thread, so that waiting threads do not count against it."""

    provider = CPU

    def __init__(self, path: Path) -> None:
        self._session = inference_session(path, session_options())
        self.inputs = {item.name: (item.shape, item.type) for item in self._session.get_inputs()}
        self.outputs = [item.name for item in self._session.get_outputs()]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Named arrays in, named arrays out."""
        return dict(zip(self.outputs, self._session.run(None, dict(feeds)), strict=True))


class PlainModels:
    """Networks of the prepared store, not verified."""

    def __init__(self) -> None:
        self.store = Store.open()
        self._opened: dict[Path, PlainSession] = {}

    def path(self, model: str, file: str) -> Path:
        """Where a file of a model lies."""
        return next(place for place in self.store.places(self.store.lock[model], file) if place.is_file())

    def session(self, model: str, file: str) -> Session:
        """A network, loaded once."""
        path = self.path(model, file)
        return self._opened.setdefault(path, PlainSession(path)) if path not in self._opened else self._opened[path]


@dataclass(frozen=True, slots=True)
class Clip:
    """One file, as OpenCV and PyAV see it."""

    path: Path

    def info(self) -> ClipInfo:
        """Facts from the container's header: a constant frame rate is taken for granted."""
        clip = cv2.VideoCapture(str(self.path))
        count, rate = int(clip.get(cv2.CAP_PROP_FRAME_COUNT)), clip.get(cv2.CAP_PROP_FPS)
        width, height = int(clip.get(cv2.CAP_PROP_FRAME_WIDTH)), int(clip.get(cv2.CAP_PROP_FRAME_HEIGHT))
        clip.release()
        video = VideoInfo("", width, height, "", "", False, 0, (1, 1), np.arange(count) / rate, count / rate)
        return ClipInfo("", video, AudioInfo("", 0, 2, 0.0, count / rate))

    def frames(self, view: View) -> Frames:
        """Read every frame if most are wanted, else jump to each."""
        info = self.info()
        assert info.video is not None  # noqa: S101  (it was just made)
        index = select(view.sampling, info.video.times)
        read = self._read if 2 * len(index) > info.video.frames else self._jump
        return Frames(np.stack(read(index, view)), index, info.video.times[index], info)

    def _jump(self, index: I64, view: View) -> list[U8]:
        clip = cv2.VideoCapture(str(self.path))
        found = []
        for position in index.tolist():
            clip.set(cv2.CAP_PROP_POS_FRAMES, position)
            found.append(picture(clip.read()[1], view))
        return found

    def _read(self, index: I64, view: View) -> list[U8]:
        clip, wanted, found = cv2.VideoCapture(str(self.path)), set(index.tolist()), []
        for position in range(int(index[-1]) + 1):
            frame = clip.read()[1]
            if position in wanted:
                found.append(picture(frame, view))
        return found

    def sound(self, view: AudioView) -> Audio:
        """Mono samples."""
        resampler, parts = av.AudioResampler(format="s16", layout="mono", rate=view.rate), []
        with av.open(self.path) as container:
            for frame in [*container.decode(audio=0), None]:
                parts += [part.to_ndarray().reshape(-1) for part in resampler.resample(frame)]
        return Audio(np.concatenate(parts).astype(np.int16), view.rate, present=True)


def picture(bgr: Any, view: View) -> U8:
    """[H, W, C] of a view from a frame of OpenCV. Raises ValueError for a fit that no core metric asks for."""
    gray = view.colour == "gray"
    frame = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY if gray else cv2.COLOR_BGR2RGB)
    if view.fit not in {Fit.NATIVE, Fit.SQUASH, Fit.SHORT_SIDE, Fit.LONG_SIDE_MAX}:
        raise ValueError(f"the usual flow has no {view.fit}")
    size = scaled_size(view, bgr.shape[1], bgr.shape[0])
    if view.filter is Filter.AREA:
        frame = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    elif view.filter is Filter.BILINEAR and not view.antialias:
        frame = cv2.resize(frame, size, interpolation=cv2.INTER_LINEAR)
    else:
        resample = Image.Resampling.BILINEAR if view.filter is Filter.BILINEAR else Image.Resampling.BICUBIC
        frame = np.asarray(Image.fromarray(frame).resize(size, resample))
    return np.asarray(frame[..., None] if gray else frame, np.uint8)


class Flow:
    """Everything one metric needs, fetched one after the other."""

    def __init__(self, clips: Mapping[str, Path]) -> None:
        self._clips = {role: Clip(path) for role, path in clips.items()}
        self._models = PlainModels()

    def fetch(self, need: Need) -> Any:
        """The value of a need."""
        if isinstance(need, ExpertNeed):
            entry = self._models.store.resolve(need.capability).require()
            return self._ask(importlib.import_module(f"evaluator.experts.{entry.id}").EXPERT(self._models), need)
        clip = self._clips[need.role]
        if isinstance(need, FramesNeed):
            return clip.frames(need.view)
        return clip.sound(need.view) if isinstance(need, AudioNeed) else clip.info()

    def _ask(self, expert: Expert, need: ExpertNeed) -> Any:
        if not isinstance(expert, StreamingExpert):
            return expert.run(need, {name: self.fetch(inner) for name, inner in expert.needs(need).items()})
        clip = self._clips[need.roles[0]]
        tap = expert.tap(need, clip.info())
        frames = clip.frames(expert.view(need))
        tap.push(FrameChunk(frames.data, frames.index, frames.time))
        return tap.close()


def main(metric: str, target: str, *clips: str) -> None:
    """Compute one metric of one case."""
    start = time.process_time()
    flow = Flow({role: Path(path) for role, _, path in (clip.partition("=") for clip in clips)})
    chosen = importlib.import_module(f"evaluator.metrics.{metric}").METRIC
    try:
        value = chosen.compute(**{name: flow.fetch(need) for name, need in chosen.needs.items()}).value
    except NotApplicable as reason:
        value = None
        print(reason.message, file=sys.stderr)
    Path(target).write_text(json.dumps({"value": value, "start": start}), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
