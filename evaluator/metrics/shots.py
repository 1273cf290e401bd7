"""From per-frame transition probabilities to transitions and shots (TransNetV2's rule, CutCraft 4.1).

Optical classes of transitions and CutCraft's repairs belong to the CutCraft suite.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import ShotScores
from evaluator.media.types import F32

THRESHOLD = 0.5
"""A frame above this probability belongs to a transition (the default of TransNetV2; CutCraft uses 0.35)."""


def runs_above(probability: F32, threshold: float = THRESHOLD) -> list[tuple[int, int]]:
    """Maximal runs of frames with a probability strictly above the threshold, as (first, last) inclusive."""
    above = np.concatenate([[False], probability > threshold, [False]])
    edges = np.flatnonzero(above[1:] != above[:-1]).reshape(-1, 2)
    return [(int(first), int(end) - 1) for first, end in edges]


def scenes(frames: int, runs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Shots between runs, as (first, last) inclusive frame numbers; at least one.

    A shot starts after a run and its last frame is the first frame of the next run. A run at frame 0 ends no shot, and
    a run that reaches the last frame is followed by none.
    """
    if not runs or runs == [(0, frames - 1)]:
        return [(0, frames - 1)]
    starts = [0] * (runs[0][0] > 0) + [last + 1 for _, last in runs]
    ends = [first for first, _ in runs if first > 0] + [frames - 1] * (runs[-1][1] < frames - 1)
    return list(zip(starts, ends, strict=False))  # after a run that reaches the end, a start is left over


def transition_table(scores: ShotScores) -> list[dict[str, Any]]:
    """Transitions with frames (inclusive), times in seconds, peak and mean probability."""
    _require_frames(scores)
    return [_transition(scores, first, last) for first, last in runs_above(scores.probability)]


def shot_table(scores: ShotScores) -> list[dict[str, Any]]:
    """Shots with frames (inclusive) and the time stamps of these frames in seconds."""
    _require_frames(scores)
    found = scenes(len(scores.probability), runs_above(scores.probability))
    return [_span(scores, first, last) for first, last in found]


def _require_frames(scores: ShotScores) -> None:
    if not len(scores.probability):
        raise NotApplicable("not_applicable", "The clip has no frame.")


def _span(scores: ShotScores, first: int, last: int) -> dict[str, Any]:
    return {
        "start_frame": first,
        "end_frame": last,
        "start_sec": float(scores.time[first]),
        "end_sec": float(scores.time[last]),
    }


def _transition(scores: ShotScores, first: int, last: int) -> dict[str, Any]:
    run = scores.probability[first : last + 1].astype(np.float64)
    peak = int(run.argmax())
    return {
        **_span(scores, first, last),
        "peak_frame": first + peak,
        "peak": float(run[peak]),
        "mean": float(run.mean()),
    }
