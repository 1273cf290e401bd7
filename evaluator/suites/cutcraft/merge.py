"""From modes to dimensions: which parts a dimension is the mean of, and what stands for a part that is not there.

    A  signals           B  a judge with experts' numbers           C  a judge with a stored question

Spec 1, 7 and 9. Plain numbers; a part that is None does not exist, it is not 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from evaluator.metrics.arithmetic import clip01
from evaluator.suites.cutcraft.scoring import GRADES

MODES: Mapping[str, str] = {
    "A1": "A",
    "A2": "C",
    "A3": "C",
    "A4": "A",
    "B1": "A",
    "B2": "A",
    "B3": "B",
    "C1": "B+C",
    "D1": "A+B+C",
    "D2": "A",
    "D3": "A",
    "E1": "B+C",
    "E2": "A",
    "E3": "C",
    "F1": "A",
    "F2": "A",
}
"""Dimension -> the modes that its score comes from."""


def mean_of(*parts: float | None) -> float | None:
    """Mean of the parts that exist: A4, C1, D1 and E1 with equal weights."""
    found = [part for part in parts if part is not None]
    return fmean(found) if found else None


def events(grades: Sequence[float | None], vector: Sequence[float] = GRADES) -> float:
    """A2: mean over the script's events; None is an event whose shot is missing. Grades are those of GRADES."""
    worth = dict(zip(GRADES, vector, strict=True))
    return fmean(worth[0.0 if grade is None else grade] for grade in grades)


def transitions(measured: Sequence[float | None], judged: Sequence[float | None]) -> float:
    """D1's expert half: credits of all transitions of the script; what nobody could say anything about counts 0."""
    if len(measured) != len(judged):
        raise ValueError("one entry per transition on both sides")
    return sum((a if a is not None else b) or 0.0 for a, b in zip(measured, judged, strict=True)) / len(measured)


def mood_and_rhythm(rhythm: float, mood: float) -> float:
    """B3."""
    return clip01((rhythm + mood) / 2.0)


def overall(dimensions: Mapping[str, float]) -> float | None:
    """A sample's overall score: unweighted mean of the dimensions that it has."""
    return fmean(dimensions.values()) if dimensions else None
