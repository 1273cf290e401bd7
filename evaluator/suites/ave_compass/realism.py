"""Realism of the edited clip alone: five grades from 1 to 5, three of the picture, two of the sound (spec 7.9).

Modalities weigh equally, not grades. A clip without a sound track has no grade for sound, whatever a judge says.
Arithmetic only; the questions are `realism_questions`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluator.errors import AnswerError
from evaluator.suites.ave_compass.scoring import PERCENT, PLACES

VISUAL = ("object_integrity", "interaction_physics", "naturalness")
SOUND = ("AAS", "MTC")  # how clean the signal is; how it fits the materials and rooms that are seen
LOWEST, HIGHEST = 1, 5
RAW_PLACES = 4
"""Decimals to which the reference rounds a mean of grades."""
_UNDEFINED = {"", "NA", "N/A"}

Grades = Mapping[str, int | None]
"""Aspect -> grade 1..5, None where it does not apply."""


@dataclass(frozen=True, slots=True)
class Realism:
    """Means of grades, 1..5; `audio` is None where no grade of the sound is defined."""

    overall: float
    video: float
    audio: float | None


def grade(value: Any) -> int | None:
    """A grade as the reference reads it: rounded half to even, clamped to 1..5; None for NA and what is no number."""
    if value is None or (isinstance(value, str) and value.strip().upper() in _UNDEFINED):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return min(HIGHEST, max(LOWEST, round(number))) if math.isfinite(number) else None


def aggregate(grades: Grades, rounded: bool = False) -> Realism:
    """Means per modality and over both. Raises AnswerError("incomplete") if a visual grade is missing."""
    visual = [value for name in VISUAL if (value := grades.get(name)) is not None]
    if len(visual) < len(VISUAL):
        missing = [name for name in VISUAL if grades.get(name) is None]
        raise AnswerError("incomplete", f"no grade for {', '.join(missing)}")
    video, audio = mean(visual, rounded), of_sound(grades, rounded)
    return Realism(mean([video] if audio is None else [video, audio], rounded), video, audio)


def of_sound(grades: Grades, rounded: bool = False) -> float | None:
    """Mean of the grades of the sound; None if none is defined."""
    defined = [value for name in SOUND if (value := grades.get(name)) is not None]
    return mean(defined, rounded) if defined else None


def mean(values: Sequence[float], rounded: bool) -> float:
    """Mean of at least one value; `rounded`: to four decimals, as the reference does."""
    return round(fmean(values), RAW_PLACES) if rounded else fmean(values)


def score(raw: float, rounded: bool = False) -> float:
    """A mean of grades 1..5 as 0..1; `rounded`: by way of a percentage of two decimals."""
    share = (raw - LOWEST) / (HIGHEST - LOWEST)
    return round(PERCENT * share, PLACES) / PERCENT if rounded else share
