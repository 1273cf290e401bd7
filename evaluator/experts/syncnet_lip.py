"""SyncNet v2, the eye: one vector for every five consecutive frames (Chung and Zisserman 2016; AVE-Compass 4.3).

A reference model: the user mounts `syncnet_lip.onnx`. Contract: `frames` [batch, 3, 5, 224, 224] float32, channels in
the order blue, green, red, levels 0..255 as they are, to `embedding` [batch, 1024]. The benchmark shows it the whole
frame, squashed, and not a face; where a face is cut out, that is the caller's view and not this expert's.

Frames are embedded as they pass, so that a long clip is never held. Option `jpeg`: true for frames that go through JPEG
files first, as the benchmark's own code writes them.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import StreamingExpert
from evaluator.experts.features import WindowEmbeddings
from evaluator.experts.pixels import sampling_of
from evaluator.media import steps_torch
from evaluator.media.types import F32, U8, ClipInfo, FrameChunk
from evaluator.runtime.arrays import is_host, joined
from evaluator.runtime.session import Session, run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, View

FILE = "syncnet_lip.onnx"
SIZE = 224
WINDOW = 5  # frames
DIMENSIONS = 1024
BATCH = 4  # windows: 12 MB of input


class SyncnetLip(StreamingExpert):
    """capability `lip_embedding`: windows that start at frames 0, 1, ... N - 6.

    The published code leaves out the last window that would fit. The sampling of the request says which frames count:
    all of them, or slots of 1/25 s.
    """

    id: ClassVar[str] = "syncnet_lip"
    capability: ClassVar[str] = "lip_embedding"
    on_device: ClassVar[bool] = True

    def view(self, want: ExpertNeed) -> View:
        kernel = Filter.FFMPEG_JPEG if dict(want.options).get("jpeg") else Filter.BILINEAR
        return View(sampling_of(want), Fit.SQUASH, SIZE, SIZE, kernel, antialias=False)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> LipTap:
        sampling = sampling_of(want)
        asked = sampling.params[0] if sampling.rule == "fps" else None
        rate = clip.video.rate if clip.video else 0.0
        return LipTap(self.sessions.session(self.id, FILE), float(asked) if isinstance(asked, int | float) else rate)


class LipTap:
    """Embeds a window as soon as the frame after it has come: the last window is not wanted."""

    def __init__(self, session: Session, rate: float) -> None:
        self._session = session
        self._rate = rate  # frames per second
        self._held: U8 = np.empty((0, SIZE, SIZE, 3), np.uint8)
        self._rows: list[F32] = []

    def push(self, chunk: FrameChunk) -> None:
        """Take frames [n, 224, 224, 3]; at most five of them stay."""
        self._held = joined([self._held, chunk.data])
        while len(self._held) > WINDOW:
            ready = min(BATCH, len(self._held) - WINDOW)
            self._rows.append(self._embed(self._held[: ready + WINDOW - 1]))
            self._held = self._held[ready:]

    def close(self) -> WindowEmbeddings:
        """All windows [max(0, N - 5), 1024] in order."""
        vectors = np.concatenate(self._rows) if self._rows else np.empty((0, DIMENSIONS), np.float32)
        return WindowEmbeddings(vectors, self._rate)

    def _embed(self, frames: U8) -> F32:
        """Vectors [n, 1024] of n + 4 frames."""
        found = run_padded(self._session, "frames", windows(frames), BATCH)["embedding"]
        if found.shape[1:] != (DIMENSIONS,):
            raise ExpertError(f"{FILE}: expected [n, {DIMENSIONS}], found {list(found.shape)}")
        return np.asarray(found, np.float32)


def windows(frames: U8) -> F32:
    """RGB frames [n + 4, H, W, 3] to BGR windows [n, 3, 5, H, W], levels unchanged."""
    if not is_host(frames):
        on_device: F32 = steps_torch.windows(frames, WINDOW)
        return on_device
    planes = frames[..., ::-1].transpose(3, 0, 1, 2).astype(np.float32)  # [3, n + 4, H, W]
    cut = np.lib.stride_tricks.sliding_window_view(planes, WINDOW, axis=1)  # [3, n, H, W, 5]
    return np.ascontiguousarray(cut.transpose(1, 0, 4, 2, 3))


EXPERT = SyncnetLip
