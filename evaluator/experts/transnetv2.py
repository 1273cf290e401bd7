"""TransNetV2: the probability that a shot transition happens at each frame (Soucek & Lokoc, arXiv 2008.04838).

The real published weights. The network sees windows of 100 frames at 48 x 27; how windows are laid over a clip changes
the scores (CutCraft spec 4.1 and 15.4), so there are two ways, chosen by the option `windows`:

* "overlapping" (default), the authors' own: 25 copies of the first frame in front, windows 50 apart, of each window
  only the middle 50 scores, copies of the last frame behind.
* "disjoint", CutCraft's reference code: windows side by side, the last one filled with black. A cut on the edge of a
  window is lost and the black makes a false transition on the last frame.

The expert does not decide what a shot is; that is a metric's rule on these scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import StreamingExpert
from evaluator.experts.features import ShotScores
from evaluator.experts.logits import probability
from evaluator.media.types import F32, F64, U8, ClipInfo, FrameChunk
from evaluator.runtime.arrays import blank, joined
from evaluator.runtime.session import Session
from evaluator.schema import ALL_FRAMES, ExpertNeed, Filter, Fit, View

WINDOW = 100
HEIGHT, WIDTH = 27, 48


@dataclass(frozen=True, slots=True)
class Windowing:
    """How windows of 100 frames are laid over a clip: `front` repeats of frame 0, then a window every `step` frames."""

    front: int
    step: int
    repeat_last: bool  # what follows the last frame: copies of it, or black

    @property
    def kept(self) -> slice:
        """Which scores of a window count."""
        return slice(self.front, self.front + self.step)


WINDOWINGS: Mapping[str, Windowing] = {
    "overlapping": Windowing(front=25, step=50, repeat_last=True),
    "disjoint": Windowing(front=0, step=WINDOW, repeat_last=False),
}


class ShotTap:
    """Scores windows as soon as they are full; holds at most one window of frames and one chunk."""

    def __init__(self, session: Session, windowing: Windowing, clip: ClipInfo) -> None:
        self._session = session
        self._windowing = windowing
        self._rate = clip.video.rate if clip.video else 0.0
        self._pending: U8 = np.zeros((0, HEIGHT, WIDTH, 3), np.uint8)
        self._times: list[F64] = []
        self._scores: list[F32] = []

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, 27, 48, 3]."""
        front = [] if self._times else [chunk.data[:1]] * self._windowing.front
        self._pending = joined([self._pending, *front, chunk.data])
        self._times.append(chunk.time)
        while len(self._pending) >= WINDOW:
            self._score(self._pending[:WINDOW])

    def close(self) -> ShotScores:
        """Fill the last windows, and return one probability per frame. Raises NotApplicable for a clip of no frame."""
        if not self._times:
            raise NotApplicable("not_applicable", "The clip has no frame.")
        time = np.concatenate(self._times)
        last = self._pending[-1:] if self._windowing.repeat_last else blank(self._pending, (1, HEIGHT, WIDTH, 3))
        while len(self._scores) * self._windowing.step < len(time):
            missing = WINDOW - len(self._pending)
            self._score(joined([self._pending, *missing * [last]]))
        return ShotScores(np.concatenate(self._scores)[: len(time)], time, self._rate)

    def _score(self, window: U8) -> None:
        """Score one full window [100, 27, 48, 3] and move on by `step` frames."""
        logits = self._session.run({"frames": window[None]})["single"]  # [1, 100, 1]
        self._scores.append(probability(logits[0, self._windowing.kept, 0]))
        self._pending = self._pending[self._windowing.step :]


class TransNetV2(StreamingExpert):
    """Shot transition scores from every frame of a clip.

    Frames are scaled by FFmpeg's default scaler, as the authors' code and CutCraft's do.
    """

    id: ClassVar[str] = "transnetv2"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "shot_boundaries"
    on_device: ClassVar[bool] = True

    def view(self, want: ExpertNeed) -> View:
        return View(ALL_FRAMES, Fit.SQUASH, HEIGHT, WIDTH, Filter.FFMPEG_BICUBIC)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> ShotTap:
        options: dict[str, Any] = dict(want.options)
        windows = options.get("windows", "overlapping")
        if windows not in WINDOWINGS:
            raise ValueError(f"option windows: expected one of {sorted(WINDOWINGS)}, found {windows!r}")
        return ShotTap(self.sessions.session(self.id, "transnetv2.onnx"), WINDOWINGS[windows], clip)


EXPERT = TransNetV2
