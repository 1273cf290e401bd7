"""SyncNet v2, the ear: one vector for every 0.2 s of sound, 0.04 s apart (Chung and Zisserman 2016; AVE-Compass 4.3).

A reference model: the user mounts `syncnet_aud.onnx`. Contract: `mfcc` [batch, 1, 13, 20] float32 (cepstra by 10 ms
columns, not normalised) to `embedding` [batch, 1024].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import WindowEmbeddings
from evaluator.experts.mfcc import CEPSTRA, RATE, mfcc
from evaluator.experts.waveform import sound_need
from evaluator.media.types import F32, F64, I16, Audio, ClipInfo
from evaluator.runtime.session import run_padded
from evaluator.schema import ClipNeed, ExpertNeed, Need

FILE = "syncnet_aud.onnx"
WINDOW = 20  # columns, 0.2 s
HOP = 4  # columns, 0.04 s: one frame at 25 frames a second, whatever the clip's rate
SAMPLES_PER_STEP = RATE // 25  # 640
TAIL = 5  # steps at the end without a window of their own, as on the picture's side
DIMENSIONS = 1024
BATCH = 32


class SyncnetAud(Expert):
    """capability `voice_embedding`: floor(T / 640) - 5 windows of the sound, counted from the first frame.

    Sound that begins after the picture is preceded by silence, as FFmpeg's `async` option does it; sound that begins
    before it is not cut.
    """

    id: ClassVar[str] = "syncnet_aud"
    capability: ClassVar[str] = "voice_embedding"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want), "clip": ClipNeed(want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> WindowEmbeddings:
        samples = from_first_frame(inputs["audio"], inputs["clip"])
        count = max(0, len(samples) // SAMPLES_PER_STEP - TAIL)
        if not count:
            return WindowEmbeddings(np.empty((0, DIMENSIONS), np.float32), RATE / SAMPLES_PER_STEP)
        session = self.sessions.session(self.id, FILE)
        found = run_padded(session, "mfcc", windows(mfcc(samples), count), BATCH)["embedding"]
        if found.shape != (count, DIMENSIONS):
            raise ExpertError(f"{FILE}: expected [{count}, {DIMENSIONS}], found {list(found.shape)}")
        return WindowEmbeddings(np.asarray(found, np.float32), RATE / SAMPLES_PER_STEP)


def from_first_frame(audio: Audio, clip: ClipInfo) -> I16:
    """The samples, after as many zeros as the sound begins late."""
    begins = float(clip.video.times[0]) if clip.video else audio.start
    late = max(0, round((audio.start - begins) * RATE))
    return np.pad(audio.samples, (late, 0))


def windows(cepstra: F64, count: int) -> F32:
    """The first `count` windows [count, 1, 13, 20] of cepstra [columns, 13]."""
    cut = np.lib.stride_tricks.sliding_window_view(cepstra, WINDOW, axis=0)[::HOP]  # [n, 13, 20]
    return np.ascontiguousarray(cut[:count, None], np.float32).reshape(count, 1, CEPSTRA, WINDOW)


EXPERT = SyncnetAud
