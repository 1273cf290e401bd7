"""Objects of a fixed list of classes (COCO's 80, say) in sampled frames.

A reference model: the user mounts `object_detector.onnx` and `classes.json`, a list of class names. Contract: `pixels`
[1, 3, 640, 640] float32, RGB in 0..1, letterboxed on black, to `boxes` [1, queries, 4] (x1, y1, x2, y2 in pixels of the
input), `scores` [1, queries] in 0..1 and `labels` [1, queries] int64; overlapping boxes of one object are already
suppressed. AVENUE counts subjects and persons with it; no detector is named there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import Detections
from evaluator.experts.pixels import UNIT, normalise, sampling_of
from evaluator.media.types import F32, Frames
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, View

FILE, CLASSES = "object_detector.onnx", "classes.json"
SIZE = 640
LEAST_SCORE = 0.35
"""AVENUE, spec section 1.2 (ours)."""


class ObjectDetector(Expert):
    """capability `object_detections`: everything with a score of at least 0.35."""

    id = "object_detector"
    capability = "object_detections"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        view = View(sampling_of(want), Fit.LETTERBOX, SIZE, SIZE, Filter.BILINEAR)
        return {"frames": FramesNeed(view, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Detections:
        frames: Frames = inputs["frames"]
        names = class_names(self.sessions.path(self.id, CLASSES))
        session = self.sessions.session(self.id, FILE)
        rows, boxes, scores, found = [], [], [], []
        for row, picture in enumerate(frames.data):
            seen = session.run({"pixels": normalise(picture[None], UNIT)})
            likely = np.flatnonzero(seen["scores"][0] >= LEAST_SCORE)
            rows += [row] * len(likely)
            boxes.append(unletterboxed(seen["boxes"][0][likely], frames))
            scores.append(seen["scores"][0][likely])
            found += [_name(names, label) for label in seen["labels"][0][likely].tolist()]
        return Detections(
            np.array(rows, np.int64),
            np.concatenate([np.zeros((0, 4), np.float32), *boxes]).astype(np.float32),
            np.concatenate([np.zeros(0, np.float32), *scores]).astype(np.float32),
            tuple(found),
            frames.index,
        )


def unletterboxed(boxes: F32, frames: Frames) -> F32:
    """Boxes [K, 4] in pixels of the letterboxed input as fractions of the picture itself."""
    video = frames.clip.video
    if video is None:
        raise ExpertError("boxes of a clip without pictures")
    scale = SIZE / max(video.width, video.height)
    width, height = video.width * scale, video.height * scale
    left, top = (SIZE - width) / 2, (SIZE - height) / 2
    moved = (boxes - np.array([left, top, left, top])) / np.array([width, height, width, height])
    return np.asarray(np.clip(moved, 0.0, 1.0), np.float32)


def _name(names: tuple[str, ...], label: int) -> str:
    if not 0 <= label < len(names):
        raise ExpertError(f"{FILE}: class {label} of {len(names)}; {CLASSES} does not belong to it")
    return names[label]


@cache
def class_names(path: Path) -> tuple[str, ...]:
    """The names in the order of the labels. Raises ExpertError for another form."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ExpertError(f"{path.name}: not a list of class names ({error})") from error
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise ExpertError(f"{path.name}: expected a list of class names")
    return tuple(found)


EXPERT = ObjectDetector
