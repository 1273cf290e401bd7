"""Grounding DINO base (Liu et al., 2023): where a phrase is in a picture. Its best box over the first three frames.

A reference model: the user mounts `grounding_dino.onnx` and the `vocab.txt` of its text side (BERT, uncased). Contract:
`pixels` [1, 3, H, W] float32, RGB, ImageNet statistics, short side 800 and long side at most 1333, and `input_ids`
[1, L] int64, to `score` [1, Q] (the largest sigmoid over the tokens of the phrase) and `boxes` [1, Q, 4] (centre x,
centre y, width, height, as fractions). Which boxes are good enough is the asker's rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from evaluator.errors import ExpertError
from evaluator.experts.base import Expert
from evaluator.experts.features import GroundedBoxes
from evaluator.experts.pixels import IMAGENET, normalise
from evaluator.experts.regions import PROBED_FRAMES, phrases_of
from evaluator.experts.wordpiece import encode, read_vocabulary
from evaluator.media import steps_torch
from evaluator.media.types import F32, U8, Frames
from evaluator.runtime.arrays import is_host
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, FramesNeed, Need, View

FILE, VOCABULARY = "grounding_dino.onnx", "vocab.txt"
SHORT_SIDE, LONG_SIDE = 800, 1333


class GroundingDino(Expert):
    """One box per phrase."""

    id: ClassVar[str] = "grounding_dino"
    version: ClassVar[int] = 2
    capability: ClassVar[str] = "grounded_boxes"
    on_device: ClassVar[bool] = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": FramesNeed(View(PROBED_FRAMES), want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> GroundedBoxes:
        frames: Frames = inputs["frames"]
        session = self.sessions.session(self.id, FILE)
        vocabulary = read_vocabulary(self.sessions.path(self.id, VOCABULARY))
        phrases = phrases_of(want)
        pixels = [normalise(prepared(frame)[None], IMAGENET) for frame in frames.data]
        found = [_best(session, pixels, f"{phrase.strip().lower().rstrip('.')}.", vocabulary) for phrase in phrases]
        boxes, scores, rows = zip(*found, strict=True)
        return GroundedBoxes(phrases, np.stack(boxes), np.array(scores, np.float32), np.array(rows, np.int64))


def prepared(frame: U8) -> U8:
    """A frame [H, W, 3] as the network takes it: short side 800, long side at most 1333, bilinear."""
    size = size_of(*frame.shape[:2])
    if not is_host(frame):
        on_device: U8 = steps_torch.resized(frame[None], size)[0]
        return on_device
    return np.asarray(Image.fromarray(frame).resize(size, Image.Resampling.BILINEAR))


def size_of(height: int, width: int) -> tuple[int, int]:
    """(width, height) that the network takes a picture at, as transformers' processor rounds them.

    Where the long side is what bounds, the other one is rounded but does not enter into it, which may not pass 1333. A
    picture whose short side is right already stays as it is, a few pixels above that bound or below it.
    """
    short, long = min(height, width), max(height, width)
    exact = SHORT_SIDE if long * SHORT_SIDE <= LONG_SIDE * short else LONG_SIDE * short / long
    sides = round(exact), int(exact * long / short)
    if sides[0] == short:
        return width, height
    return sides if width < height else sides[::-1]


def _best(session: Session, pixels: list[F32], text: str, vocabulary: Mapping[str, int]) -> tuple[F32, float, int]:
    """(box as fractions x1, y1, x2, y2; its score; the frame that it is on): the first of the best."""
    ids = encode(text, vocabulary)[None]
    found = [session.run({"pixels": picture, "input_ids": ids}) for picture in pixels]
    if any(one["boxes"].shape != (1, one["score"].shape[-1], 4) for one in found):
        raise ExpertError(f"{FILE}: expected one box per score")
    row = max(range(len(found)), key=lambda index: float(found[index]["score"].max()))
    query = int(found[row]["score"][0].argmax())
    return corners(found[row]["boxes"][0, query]), float(found[row]["score"][0, query]), row


def corners(box: F32) -> F32:
    """[4] x1, y1, x2, y2 of centre, width and height, cut to the picture."""
    x, y, width, height = box.tolist()
    return np.clip([x - width / 2, y - height / 2, x + width / 2, y + height / 2], 0.0, 1.0).astype(np.float32)


EXPERT = GroundingDino
