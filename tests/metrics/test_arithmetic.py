"""Bounds and cosines."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.metrics.arithmetic import clip01, cosine, cosine_score


def test_clip01() -> None:
    assert [clip01(x) for x in (-1.0, 0.25, 7.0)] == [0.0, 0.25, 1.0]


def test_a_broken_figure_does_not_become_a_score() -> None:
    assert math.isnan(clip01(math.nan))


@pytest.mark.parametrize(("angle", "score"), [(0.0, 1.0), (90.0, 0.5), (180.0, 0.0)])
def test_cosine_score(angle: float, score: float) -> None:
    a, b = np.array([2.0, 0.0]), 5 * np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
    assert cosine_score(cosine(a, b)) == pytest.approx(score)


def test_no_direction_no_cosine() -> None:
    with pytest.raises(NotApplicable):
        cosine(np.zeros(3), np.ones(3))
