"""RIFE HDv3 frame interpolation: how far each second frame is from what its two neighbours predict (arXiv 2011.06294).

A stand-in for AMT-G in AVE-Compass 4.7. As there, frames 0, 2, 4, ... go in, each pair predicts the frame between,
and the prediction is cut to uint8 (truncated, not rounded) and compared with the real frame: mean absolute difference
over pixels and channels. Here on small frames: long side 160, aspect kept, and on all triplets of a clip up to a
stated number.

Why small and all instead of large and few: damage is sparse. Measured on three clips of 132 frames, with one or three
frames dropped, doubled, frozen or swapped at random places: 65 triplets at 160 x 90 (3.7 CPU seconds) rank the damaged
clip below the untouched one in 79 % of 504 trials, 40 equally spaced ones in 75 %. Testing the frames that look most
suspicious beside equally spaced ones gave 84 % against 81 % on four clips: too little for a mean that would no longer
be the mean over the clip which the paper defines. Swaps, freezes and three drops are seen in 98 % of trials. A single
doubled frame is not seen (49 %), nor would it be if every frame were tested (33 %).

A longer clip is tested at equally spaced triplets, which keeps the mean unbiased and may miss a lone fault; `sampled`
says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import InterpolationError
from evaluator.experts.pixels import UNIT, normalise
from evaluator.media import steps_torch
from evaluator.media.types import F32, I64, U8, Frames
from evaluator.runtime.arrays import is_host, to_host
from evaluator.runtime.session import OnDevice, Session
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

COUNT = 75
"""Triplets at most: every second frame of 5 s at 30 fps."""
LONG_SIDE = 160
MULTIPLE = 32
"""The network halves a picture five times."""


@dataclass(frozen=True, slots=True)
class Padding:
    """Edge pixels repeated around a picture to make its sides multiples of 32; a spare pixel goes right or below."""

    top: int
    left: int
    height: int  # of the picture inside
    width: int

    @classmethod
    def of(cls, height: int, width: int) -> Padding:
        """The padding of a picture of this size."""
        return cls(-height % MULTIPLE // 2, -width % MULTIPLE // 2, height, width)

    def add(self, frames: U8) -> U8:
        """[N, H, W, 3] with the border."""
        below = -self.height % MULTIPLE - self.top
        right = -self.width % MULTIPLE - self.left
        if not is_host(frames):
            on_device: U8 = steps_torch.bordered(frames, (self.top, below), (self.left, right))
            return on_device
        return np.pad(frames, ((0, 0), (self.top, below), (self.left, right), (0, 0)), mode="edge")

    def remove(self, picture: F32) -> F32:
        """[3, H', W'] without it."""
        return picture[:, self.top : self.top + self.height, self.left : self.left + self.width]


def centres(index: I64) -> I64:
    """Rows of the odd frames whose two neighbours are there too, for ascending frame positions [N]."""
    inside = np.arange(1, max(1, len(index) - 1))
    whole = (index[inside - 1] == index[inside] - 1) & (index[inside + 1] == index[inside] + 1)
    rows: I64 = inside[whole & (index[inside] % 2 == 1)]
    return rows


class Rife(Expert):
    """Interpolation errors in grey levels. Options: `count` triplets at most, `long_side` of the frames in pixels."""

    id: ClassVar[str] = "rife"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "frame_interpolation"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        options: dict[str, Any] = dict(want.options)
        sampling = Sampling("triplets", (options.get("count", COUNT),))
        view = View(sampling, Fit.LONG_SIDE_MAX, height=options.get("long_side", LONG_SIDE), filter=Filter.FFMPEG_AREA)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> InterpolationError:
        frames: Frames = inputs["frames"]
        rows = centres(frames.index)
        if not len(rows):
            raise NotApplicable("not_applicable", "Interpolation needs three frames: one and its two neighbours.")
        session = self.sessions.session(self.id, "rife.onnx")
        padding = Padding.of(*frames.data.shape[1:3])
        padded = padding.add(frames.data)
        errors = [
            difference(padding.remove(middle(session, padded[row - 1], padded[row + 1])), frames.data[row])
            for row in rows
        ]
        total = possible(frames)
        return InterpolationError(
            error=np.array(errors, np.float32),
            index=frames.index[rows],
            sampled=len(rows) < total,
            plan=plan(len(rows), total, *frames.data.shape[1:3]),
        )


def possible(frames: Frames) -> int:
    """How many odd frames of the whole clip have two neighbours."""
    count = frames.clip.video.frames if frames.clip.video else 0
    return max(0, (count - 1) // 2)


def plan(tested: int, total: int, height: int, width: int) -> str:
    """Which frames were tested, in words."""
    which = "every odd frame" if tested == total else f"{tested} of {total} odd frames, equally spaced"
    return f"{which}, at {width}x{height}"


def middle(session: Session, first: U8, second: U8) -> F32:
    """The frame [3, H, W] in 0..1 half way between two frames [H, W, 3]."""
    return between(session, normalise(first[None], UNIT), normalise(second[None], UNIT))


def between(session: Session, first: F32, second: F32) -> F32:
    """The picture [3, H, W] that a network makes of two [1, 3, H, W]; left where they lie, if the session can."""
    feeds = {"first": first, "second": second}
    if not is_host(first) and isinstance(session, OnDevice):
        on_device: F32 = session.leave(feeds, {"middle": tuple(first.shape)})["middle"][0]
        return on_device
    predicted: F32 = session.run(feeds)["middle"][0]
    return predicted


def difference(predicted: F32, real: U8) -> float:
    """Mean absolute difference in grey levels between a prediction [3, H, W] in 0..1 and a frame [H, W, 3]."""
    if not is_host(predicted):
        return steps_torch.grey_difference(predicted, real)
    levels = np.clip(predicted * 255, 0, 255).astype(np.uint8).transpose(1, 2, 0)  # truncates, as the reference does
    return float(np.abs(levels.astype(np.int16) - to_host(real)).mean())


EXPERT = Rife
