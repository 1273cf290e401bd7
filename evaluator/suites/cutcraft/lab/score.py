"""Precision, recall and F1 per class, and errors of time, from true and found labels. Knows no clip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Counts of one class among labelled items."""

    name: str
    hits: int
    found: int
    true: int

    @property
    def precision(self) -> float | None:
        """None where nothing was called by this name."""
        return self.hits / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """None where nothing is of this class."""
        return self.hits / self.true if self.true else None

    @property
    def f1(self) -> float | None:
        """None where the class is neither there nor found."""
        return 2 * self.hits / (self.found + self.true) if self.found + self.true else None


def class_scores(classes: Sequence[str], true: Sequence[str], found: Sequence[str]) -> list[ClassScore]:
    """One score per class; a found label outside `classes` is a miss of the true one."""
    pairs = list(zip(true, found, strict=True))
    return [
        ClassScore(
            name,
            hits=sum(a == b == name for a, b in pairs),
            found=sum(b == name for _, b in pairs),
            true=sum(a == name for a, _ in pairs),
        )
        for name in classes
    ]


def macro_f1(scores: Sequence[ClassScore]) -> float:
    """Mean F1 of the classes that are there. Raises ValueError if none is."""
    values = [score.f1 for score in scores if score.f1 is not None and score.true]
    if not values:
        raise ValueError("no item has any of the classes")
    return float(np.mean(values))


@dataclass(frozen=True, slots=True)
class TimeError:
    """How far found times are from true ones, in seconds."""

    count: int
    mean: float
    median: float
    worst: float


def time_error(differences: Sequence[float]) -> TimeError | None:
    """Of absolute differences; None where there is none to look at."""
    if not differences:
        return None
    size = np.abs(np.asarray(differences))
    return TimeError(len(size), float(size.mean()), float(np.median(size)), float(size.max()))
