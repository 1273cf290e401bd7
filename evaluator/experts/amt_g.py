"""AMT-G frame interpolation: how far each second frame is from what its neighbours predict (AVE-Compass 4.7).

Li et al., "AMT: All-Pairs Multi-Field Transforms", CVPR 2023. A reference model: the user mounts `amt_g.onnx`.
Contract: `first`, `second` [1, 3, height, width] float32 in 0..1, both sides multiples of 16, to `middle` of the same
shape, half way in time. Every frame of the clip is used, at full size; pairs pass one at a time.

The published code shrinks the network's inner pictures by a factor that follows from the memory of the card, above 720p
on small cards. `inner_scale` is that formula, with a fixed card of 24 GiB unless the request names another. A mounted
file computes at scale 1, so where the formula asks for less there is no value: options `scale` = 1 (never shrink, as
profile strict wants) or `vram_bytes` (of another card).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.base import StreamingExpert
from evaluator.experts.features import InterpolationError
from evaluator.experts.pixels import UNIT, normalise
from evaluator.experts.rife import between, difference
from evaluator.media import steps_torch
from evaluator.media.types import F32, U8, ClipInfo, FrameChunk
from evaluator.runtime.arrays import is_host
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, View

FILE = "amt_g.onnx"
MULTIPLE = 16

CARD = 24 << 30
"""Bytes of the card for which the published project validated its set-up."""
OVERHEAD, UNIT_BYTES = 2500 << 20, 1500 << 20
UNIT_PIXELS = 524_288
"""The formula's: after 2500 MiB, each 1500 MiB of memory carry 524,288 pixels (with a square root)."""


def inner_scale(height: int, width: int, vram_bytes: int = CARD) -> float:
    """The published factor for pictures of this size on a card of this size: 1 or less, a divisor rule of 16."""
    room = max(0.0, vram_bytes - OVERHEAD) / UNIT_BYTES
    scale = min(1.0, UNIT_PIXELS / (height * width) * math.sqrt(room))
    if scale <= 0.0:
        raise NotApplicable("unavailable", f"A card of {vram_bytes} bytes holds no picture by the published formula.")
    return MULTIPLE / math.floor(MULTIPLE / math.sqrt(scale))


def multiple_of(scale: float) -> int:
    """Pixels that both sides must be a multiple of at this scale."""
    return int(MULTIPLE / scale)


class AmtG(StreamingExpert):
    """capability `frame_interpolation`, exactly as published. Options: `scale`, `vram_bytes` (see above)."""

    id: ClassVar[str] = "amt_g"
    capability: ClassVar[str] = "frame_interpolation"
    on_device: ClassVar[bool] = True

    def view(self, want: ExpertNeed) -> View:
        return View()

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> PairTap:
        options: Mapping[str, Any] = dict(want.options)
        if clip.video is not None:
            _require_whole(clip.video.height, clip.video.width, options)
        return PairTap(self.sessions.session(self.id, FILE))


def _require_whole(height: int, width: int, options: Mapping[str, Any]) -> None:
    """Raise NotApplicable if the published formula shrinks what a mounted file can only compute whole."""
    if options.get("scale") == 1:
        return
    scale = inner_scale(height, width, options.get("vram_bytes", CARD))
    if scale < 1.0:
        raise NotApplicable(
            "unavailable",
            f"At {width}x{height} the published rule runs AMT-G at scale {scale:.4f}; {FILE} computes at scale 1 "
            "(profile strict scores it so).",
        )


class PairTap:
    """Holds an even frame and the odd one after it until the next even frame arrives."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._before: tuple[U8, ...] = ()  # one even frame, then an odd one
        self._errors: list[float] = []
        self._size = (0, 0)

    def push(self, chunk: FrameChunk) -> None:
        """Take frames [n, H, W, 3]."""
        for frame in chunk.data:
            if len(self._before) == 2:
                first, real = self._before
                self._errors.append(difference(self._middle(first, frame), real))
                self._before = ()
            self._before = (*self._before, frame)
            self._size = frame.shape[0], frame.shape[1]

    def close(self) -> InterpolationError:
        """Errors at frames 1, 3, 5, ... that have two neighbours."""
        height, width = self._size
        error = np.array(self._errors, np.float32)
        plan = f"every odd frame, at {width}x{height}, scale 1"
        return InterpolationError(error, 2 * np.arange(len(error)) + 1, sampled=False, plan=plan)

    def _middle(self, first: U8, second: U8) -> F32:
        """The picture [3, H, W] in 0..1 between two frames [H, W, 3]."""
        height, width = first.shape[:2]
        top, left = -height % MULTIPLE // 2, -width % MULTIPLE // 2
        rows, columns = (top, -height % MULTIPLE - top), (left, -width % MULTIPLE - left)
        pair = (normalise(bordered(frame, rows, columns)[None], UNIT) for frame in (first, second))
        predicted = between(self._session, *pair)
        return predicted[:, top : top + height, left : left + width]


def bordered(frame: U8, rows: tuple[int, int], columns: tuple[int, int]) -> U8:
    """A frame [H, W, 3] with its edge pixels repeated above and below, left and right."""
    if not is_host(frame):
        on_device: U8 = steps_torch.bordered(frame[None], rows, columns)[0]
        return on_device
    return np.pad(frame, (rows, columns, (0, 0)), mode="edge")


EXPERT = AmtG
