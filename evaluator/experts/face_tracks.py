"""Faces that can be followed, and where lips are cut out of them: the steps of LatentSync's SyncNet evaluation.

MultiRef-Compass spec, section 3.6: boxes of consecutive frames that overlap by more than half are one track, gaps of up
to a second are bridged, tracks of more than 50 frames of 25 a second with a mean larger side above 100 pixels stay.
The crop is a square around the face that reaches further down than up. Arrays in, arrays out; knows no network.
"""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from scipy.ndimage import median_filter

from evaluator.experts.features import FaceTrack
from evaluator.media.types import F32, F64, U8

LONGEST_GAP = 1.0
"""Seconds without a detection that do not end a track: 25 frames at 25 a second."""
SAME_FACE = 0.5
"""Least intersection over union of boxes that follow each other."""
LEAST_TICKS, LEAST_SIDE = 50, 100.0
"""More than so many frames at RATE, and more than so many pixels, mean of the larger side."""
RATE = 25
SMOOTHED = 13
"""Frames of the median filter on size and place."""
SCALE = 0.4
PAD = 110
"""Grey level outside the picture."""
SIZE = 224


def tracks(faces: FaceTrack, width: int, height: int) -> list[slice]:
    """Runs of frames that follow one face in a picture of width x height pixels, long and large enough."""
    return worthy(runs(faces), faces, width, height)


def runs(faces: FaceTrack) -> list[list[int]]:
    """Rows that follow one face, of whatever size and length."""
    found: list[list[int]] = []
    for row in np.flatnonzero(faces.score > 0).tolist():
        last = found[-1][-1] if found else None
        near = last is not None and faces.time[row] - faces.time[last] <= LONGEST_GAP
        if near and last is not None and overlap(faces.box[last], faces.box[row]) > SAME_FACE:
            found[-1].append(row)
        else:
            found.append([row])
    return found


def worthy(found: Sequence[Sequence[int]], faces: FaceTrack, width: int, height: int) -> list[slice]:
    """The runs that are long and large enough, each from its first row to its last."""
    size = np.array([width, height, width, height], np.float64)
    return [
        slice(run[0], run[-1] + 1)
        for run in map(list, found)
        if _large(faces.box[run] * size) and _long(faces.time[run])
    ]


def _large(boxes: F64) -> bool:
    sides = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    return bool(sides.mean() > LEAST_SIDE)


def _long(times: F64) -> bool:
    """More than fifty frames at RATE, whatever the frame rate of the clip."""
    return bool((times[-1] - times[0]) * RATE >= LEAST_TICKS)


def overlap(one: F32, other: F32) -> float:
    """Intersection over union of two boxes [4]."""
    shared = np.clip(np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2]), 0, None).prod()
    union = (one[2:] - one[:2]).prod() + (other[2:] - other[:2]).prod() - shared
    return float(shared / union) if union > 0 else 0.0


def boxes_at(faces: FaceTrack, rows: slice, times: F64) -> F64:
    """Boxes [F, 4] of one track at other times, missing ones filled in between their neighbours."""
    known = faces.score[rows] > 0
    time, box = faces.time[rows][known], faces.box[rows][known].astype(np.float64)
    return np.stack([np.interp(times, time, box[:, side]) for side in range(4)], axis=1)


def squares(boxes: F64) -> F64:
    """Smoothed (half side, middle x, middle y) [F, 3] of boxes [F, 4] in pixels."""
    half = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1]) / 2
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    raw = np.column_stack([half, middle])
    return np.asarray(median_filter(raw, size=(SMOOTHED, 1), mode="nearest"), np.float64)


def lip_crop(picture: U8, half: float, x: float, y: float) -> U8:
    """[SIZE, SIZE, 3]: from y - s to y + s (1 + 2 x 0.4) and x +- s (1 + 0.4), PAD outside the picture."""
    border = int(half * (1 + 2 * SCALE))
    framed = np.pad(picture, ((border, border), (border, border), (0, 0)), constant_values=PAD)
    x, y = x + border, y + border
    top, bottom = int(y - half), int(y + half * (1 + 2 * SCALE))
    left, right = int(x - half * (1 + SCALE)), int(x + half * (1 + SCALE))
    part = framed[max(top, 0) : bottom, max(left, 0) : right]
    return np.asarray(cv2.resize(part, (SIZE, SIZE)), np.uint8)
