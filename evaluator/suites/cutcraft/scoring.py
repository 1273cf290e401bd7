"""The formulas of CutCraft's judged dimensions on plain numbers (spec 7, golden values 15.1). No clip, no judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evaluator.media.types import F64
from evaluator.metrics.arithmetic import clip01
from evaluator.suites.cutcraft.labels import classes

GRADES = (1.0, 0.5, 0.1, 0.0)
"""A2: an event that happens fully, partly, not at all, and one whose shot is missing."""
GRADE_VECTORS = {"default": GRADES, "softer": (1.0, 0.6, 0.2, 0.0), "floor": (1.0, 0.7, 0.4, 0.1)}
"""The score vectors of the paper's sensitivity analysis."""
LAMBDA = 0.3
"""A3: what a chain keeps that reads as well backwards."""
QUESTION_WEIGHT = 0.5
RHYTHM = {"A": 1.0, "B": 0.75, "C": 0.4, "D": 0.1}
DECAY = 1.5
"""A4: ranks over which the style score falls to 1 / e."""


def chain_score(forward: float, backward: float, kept: float = LAMBDA) -> float:
    """A3 of one chain, from the mean direction of its cuts in order and in reversed order, 0..1."""
    return forward * (kept + (1.0 - kept) * clip01(forward - backward))


def causality(question: float | None, chains: float | None, weight: float = QUESTION_WEIGHT) -> float | None:
    """A3 from the stored question and the counterfactual; one alone if the other is not there."""
    if question is None or chains is None:
        return question if chains is None else chains
    return (1.0 - weight) * question + weight * chains


def threads_score(overall: float, motivated: Sequence[bool], changes: int) -> float:
    """A3, what going back and forth achieves: half the whole, half the share of changes that have a reason."""
    share = sum(motivated) / (len(motivated) or max(changes, 1))
    return 0.5 * overall + 0.5 * share


def style_decay(rank: int) -> float:
    """A4, target style: 1 if it is the likeliest of all styles."""
    return math.exp(-(rank - 1) / DECAY)


def style_rank(cosines: Mapping[str, F64], target: str, scale: float = 100.0) -> int:
    """A4: the target's place, from 1, by its mean share over frames of a softmax over styles. cosines: style -> [N]."""
    names = list(cosines)
    logits = scale * np.stack([np.asarray(cosines[name], np.float64) for name in names], axis=1)  # [N, styles]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    mean = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
    return 1 + int((mean > mean[names.index(target)]).sum())


def thread_weights(threads: Sequence[int]) -> dict[int, float]:
    """A4: share of the script's shots that each thread has."""
    return {thread: threads.count(thread) / len(threads) for thread in dict.fromkeys(threads)}


SCALES = ("ECU", "CU", "MCU", "MS", "FS", "LS", "ELS")
_BY_DISTANCE = (1.0, 0.7, 0.3)
_HALF_MOTION = {
    frozenset(pair)
    for pair in (
        ("Dolly-In", "Tracking"),
        ("Dolly-Out", "Tracking"),
        ("Steadicam", "Tracking"),
        ("Truck", "Tracking"),
        ("Steadicam", "Handheld"),
        ("Crane", "Tilt"),
    )
}
_HALF_DEPTH = (frozenset({"Shallow DoF", "Telephoto", "Macro"}), frozenset({"Deep Focus", "Wide-Angle"}))


def camera_credit(field: str, wanted: str, found: str) -> float:
    """E1, one of motion, scale, angle, depth: 1 if equal, part of it for neighbours."""
    if wanted == found:
        return 1.0
    if field == "scale":
        distance = abs(SCALES.index(wanted) - SCALES.index(found))
        return _BY_DISTANCE[distance] if distance < len(_BY_DISTANCE) else 0.0
    if field == "motion":
        return 0.5 if frozenset({wanted, found}) in _HALF_MOTION else 0.0
    return 0.5 if field == "depth" and any({wanted, found} <= group for group in _HALF_DEPTH) else 0.0


_MOVING = tuple(name for name in classes("motion") if name != "Static")
MOTIONS = (*(name for name in _MOVING if name != "Roll"), "Zoom", "Dolly Zoom", "Static")
"""What E1 offers in profile `compat`, where a Roll can never be right (D-11), in the reference's order."""
MOTIONS_WHOLE = (*_MOVING, "Zoom", "Static")
"""What profile `paper` offers: Roll too, and one word for every zoom, for a question has at most 13 options."""
