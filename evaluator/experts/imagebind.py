"""ImageBind (Girdhar et al., CVPR 2023): does what is heard belong to what is seen, by the cosine of both.

A reference model: the user mounts `imagebind_vision.onnx` (`pixels` [batch, 3, 224, 224] float32, CLIP's statistics, to
`embedding` [batch, 1024]) and `imagebind_audio.onnx` (`wave` [batch, 32000] float32 at 16 kHz, to `embedding`
[batch, 1024]; the mel front end is part of the file). Sound is taken in three windows of two seconds and pictures in
the frames of the request, else in fifteen, evenly spread, and both are averaged: the published loader takes as many.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.clap import head
from evaluator.experts.clip_vit_l14 import CLIP, SIZE
from evaluator.experts.features import Alignment
from evaluator.experts.pixels import normalise, unit_rows
from evaluator.experts.waveform import RATE, sound_need, zero_padded
from evaluator.media.types import F32, Frames
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

FRAMES = 15
WINDOWS, WINDOW = 3, 2 * RATE
BATCH = 5


class ImageBind(Expert):
    """capability `imagebind_av`: one cosine. Option `seconds`: only this much of the sound."""

    id = "imagebind"
    version = 2
    capability = "imagebind_av"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(want.sampling or Sampling("linspace", (FRAMES,)), Fit.SHORT_SIDE_CROP, SIZE, SIZE, Filter.BICUBIC)
        return {"frames": FramesNeed(view, want.roles[0]), "audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        frames: Frames = inputs["frames"]
        seen = run_padded(self._open("vision"), "pixels", normalise(frames.data, CLIP), BATCH)["embedding"]
        heard = run_padded(self._open("audio"), "wave", windows(head(inputs["audio"], want)), WINDOWS)["embedding"]
        picture, sound = (unit_rows(rows.mean(axis=0, keepdims=True))[0] for rows in (seen, heard))
        return Alignment(np.array([np.clip(picture @ sound, -1.0, 1.0)], np.float32))

    def _open(self, tower: str) -> Any:
        return self.sessions.session(self.id, f"imagebind_{tower}.onnx")


def windows(samples: F32) -> F32:
    """[3, WINDOW] from the first to the last two seconds; a shorter sound is completed with zeros."""
    last = max(0, len(samples) - WINDOW)
    starts = np.rint(np.linspace(0, last, WINDOWS)).astype(int).tolist()
    return np.stack([zero_padded(samples[start : start + WINDOW], WINDOW) for start in starts])


EXPERT = ImageBind
