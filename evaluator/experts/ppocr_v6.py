"""PP-OCRv6 small: lines of text in pictures, found by a DB detector and read by a CTC recogniser.

A picture is enlarged until its short side has 736 pixels and searched; each line is straightened, scaled to a height of
48 pixels and read by itself, so that what is read does not depend on what stands beside it. A line upside down, or one
that runs upwards, is not turned, and what is read of it is nonsense. Detection: Liao et al., AAAI 2020; recognition:
PP-OCR (Du et al., 2020) and its successors; thresholds and inputs as the package that carries the weights has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from evaluator.errors import ExpertError
from evaluator.experts.base import StreamingExpert
from evaluator.experts.ctc import best_path
from evaluator.experts.features import SpottedText
from evaluator.experts.pixels import SYMMETRIC, normalise, sampling_of
from evaluator.experts.text_regions import reading_order, regions
from evaluator.media.types import F32, U8, ClipInfo, FrameChunk
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Filter, Fit, View

DETECTOR, RECOGNISER, ALPHABET = "detector.onnx", "recogniser.onnx", "characters.txt"
WATCHED = 1280
"""Most pixels of the longer side of a picture that is watched."""
SHORT_SIDE, LONG_SIDE, STEP = 736, 1600, 32
"""The detector's picture: short side at least this, unless the long one exceeds that; both multiples of STEP."""
LINE_HEIGHT, NARROWEST, WIDEST = 48, 320, 1920
"""The recogniser's picture: a narrower line is filled up with grey, a wider one is squeezed."""
UPRIGHT = 1.5
"""A region this many times higher than wide is a line on its side."""
LEAST_CONFIDENCE = 0.5
MOST_LINES = 32
"""Of one picture, the largest ones."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text of one picture."""

    corners: F32  # [4, 2] x, y as fractions of the picture, clockwise from the top left
    score: float
    text: str


@dataclass(frozen=True, slots=True)
class Reader:
    """Both networks and the alphabet."""

    detector: Session
    recogniser: Session
    alphabet: tuple[str, ...] = field(repr=False)

    def lines(self, picture: U8) -> list[Line]:
        """What stands in a picture [H, W, 3], in reading order."""
        height, width = detector_size(*picture.shape[:2])
        (found,) = self.detector.run({"x": network_input(scaled(picture, height, width))}).values()
        corners, _ = regions(found[0, 0])  # [K, 4, 2] pixels of the enlarged picture
        shares = np.asarray(np.clip(corners / (width, height), 0.0, 1.0), np.float32)[:MOST_LINES]
        size = np.array([picture.shape[1], picture.shape[0]], np.float32)
        read = [(shares[place], *self.read(upright(picture, shares[place] * size))) for place in reading_order(shares)]
        return [Line(quad, score, text) for quad, text, score in read if text.strip() and score >= LEAST_CONFIDENCE]

    def read(self, line: U8) -> tuple[str, float]:
        """(text, confidence) of an upright line [h, w, 3]."""
        width = min(WIDEST, math.ceil(LINE_HEIGHT * line.shape[1] / line.shape[0]))
        filled = np.zeros((1, 3, LINE_HEIGHT, max(width, NARROWEST)), np.float32)  # 0 is grey
        filled[..., :width] = network_input(scaled(line, LINE_HEIGHT, width))
        (found,) = self.recogniser.run({"x": filled}).values()  # [1, T, C]
        if found.shape[2] != len(self.alphabet):
            raise ExpertError(f"{RECOGNISER}: {found.shape[2]} classes, {ALPHABET} has {len(self.alphabet)}")
        return best_path(found[0], self.alphabet)


def detector_size(height: int, width: int) -> tuple[int, int]:
    """Height and width in which a picture is searched.

    >>> detector_size(720, 1280), detector_size(180, 320), detector_size(40, 1280)
    ((736, 1312), (736, 1312), (64, 1600))
    """
    scale = min(max(1.0, SHORT_SIDE / min(height, width)), LONG_SIDE / max(height, width))
    high, wide = (max(STEP, round(side * scale / STEP) * STEP) for side in (height, width))
    return high, wide


def scaled(picture: U8, height: int, width: int) -> U8:
    """[H, W, 3] to [height, width, 3]."""
    return np.asarray(cv2.resize(picture, (width, height), interpolation=cv2.INTER_LINEAR), np.uint8)


def network_input(picture: U8) -> F32:
    """[H, W, 3] RGB to [1, 3, H, W], B, G, R in -1..1."""
    return np.ascontiguousarray(normalise(picture[None, :, :, ::-1], SYMMETRIC))


def upright(picture: U8, corners: F32) -> U8:
    """The part of a picture inside a quadrilateral [4, 2] (pixels), as a rectangle; a standing one is laid down."""
    top_left, top_right, bottom_right, bottom_left = corners.astype(np.float32)
    width = _longest(top_left - top_right, bottom_left - bottom_right)
    height = _longest(top_left - bottom_left, top_right - bottom_right)
    target = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    there = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
    cut = cv2.warpPerspective(picture, there, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.ascontiguousarray(np.rot90(cut) if height >= UPRIGHT * width else cut, np.uint8)


def _longest(*sides: F32) -> int:
    return max(1, round(max(float(np.linalg.norm(side)) for side in sides)))


class PpOcrTap:
    """Reads the frames as they pass. Holds what was read and no frame."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._read: list[tuple[int, float, list[Line]]] = []  # frame position, seconds, lines

    def push(self, chunk: FrameChunk) -> None:
        """Take the next frames [n, H, W, 3]."""
        for position, time, picture in zip(chunk.index.tolist(), chunk.time.tolist(), chunk.data, strict=True):
            self._read.append((position, time, self._reader.lines(picture)))

    def close(self) -> SpottedText:
        """Everything that was read."""
        rows = [(row, line) for row, (_, _, lines) in enumerate(self._read) for line in lines]
        return SpottedText(
            row=np.array([row for row, _ in rows], np.int64),
            corners=np.array([line.corners for _, line in rows], np.float32).reshape(-1, 4, 2),
            score=np.array([line.score for _, line in rows], np.float32),
            text=tuple(line.text for _, line in rows),
            index=np.array([position for position, _, _ in self._read], np.int64),
            time=np.array([time for _, time, _ in self._read], np.float64),
        )


class PpOcr(StreamingExpert):
    """capability `text_spotting`: lines read with a confidence of at least 0.5, at most 32 of a picture."""

    id = "ppocr_v6"
    capability = "text_spotting"

    def view(self, want: ExpertNeed) -> View:
        return View(sampling_of(want), Fit.LONG_SIDE_MAX, height=WATCHED, filter=Filter.AREA)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> PpOcrTap:
        return PpOcrTap(self._reader())

    def _reader(self) -> Reader:
        detector, recogniser = (self.sessions.session(self.id, file) for file in (DETECTOR, RECOGNISER))
        return Reader(detector, recogniser, alphabet(self.sessions.path(self.id, ALPHABET)))


@cache
def alphabet(path: Path) -> tuple[str, ...]:
    """Class -> character: the blank, one character per line of the file, the space. Raises ExpertError."""
    try:
        listed = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ExpertError(f"{path.name}: not a list of characters ({error})") from error
    if any(len(one) != 1 for one in listed):
        raise ExpertError(f"{path.name}: expected one character per line")
    return ("", *listed, " ")


EXPERT = PpOcr
