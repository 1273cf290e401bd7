"""AES and TQ: goldens of the scale, what is asked for, seeds that follow from the task."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import NotApplicable
from evaluator.experts.features import FrameAesthetics, TechnicalQuality
from evaluator.metrics.base import Metric
from evaluator.schema import Case, ExpertNeed, Sampling
from evaluator.suites.covebench import aes, tq
from evaluator.suites.covebench.draws import seed_of
from tests.metrics.build import plain


def case(task: int, system: str = "a") -> Case:
    return Case(f"{task}/{system}", "covebench", Path(f"{system}.mp4"), data={"task": task})


def aesthetics(values: list[float]) -> FrameAesthetics:
    return FrameAesthetics(np.array(values, np.float32), np.arange(len(values)))


def test_aes_is_the_plain_mean_and_not_bounded() -> None:
    assert aes.METRIC.compute(aesthetics=aesthetics([4.5, 5.5])).value == 5.0
    assert aes.METRIC.compute(aesthetics=aesthetics([-1.0, 12.0])).value == 5.5
    assert aes.METRIC.needs == {"aesthetics": ExpertNeed("frame_aesthetics", sampling=Sampling("equal_indices", (10,)))}
    with pytest.raises(NotApplicable):
        aes.METRIC.compute(aesthetics=aesthetics([]))


@pytest.mark.parametrize(("raw", "expected"), [(0.1107, 50.0), (0.18425, 73.1059), (0.0, 18.1666)])
def test_goldens_of_the_scale(raw: float, expected: float) -> None:
    assert tq.scaled(raw) == pytest.approx(expected, abs=5e-5)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=6, unique=True))
def test_the_scale_rises_and_stays_in_range(raws: list[float]) -> None:
    found = [tq.scaled(raw) for raw in sorted(raws)]
    assert all(0 <= value <= 100 for value in found)
    assert all(a <= b for a, b in pairwise(found))


def test_tq_is_the_scaled_mean_of_the_runs_and_records_what_was_drawn() -> None:
    quality = TechnicalQuality(np.array([0.1, 0.2, 0.3], np.float32), np.array([0, 50, 99]), 77, "ab" * 32)
    found = tq.METRIC.compute(quality=quality)
    assert found.raw == pytest.approx(0.2)
    assert found.value == pytest.approx(tq.scaled(0.2), abs=1e-4)
    assert {name: found.details[name] for name in ("starts", "seed", "patches_sha256")} == {
        "starts": [0, 50, 99],
        "seed": 77,
        "patches_sha256": "ab" * 32,
    }
    assert plain(dict(found.details))


def options(metric: Metric, one: Case) -> dict[str, object]:
    need = metric.needs_for(one)["quality"]
    assert isinstance(need, ExpertNeed)
    assert list(need.options) == sorted(need.options)
    return dict(need.options)


def test_known_defect_the_seed_follows_from_the_task_alone() -> None:
    """CoVEBench 10, point 11: the reference is not seeded."""
    assert options(tq.METRIC, case(7, "a")) == options(tq.METRIC, case(7, "b"))
    assert options(tq.METRIC, case(7))["seed"] != options(tq.METRIC, case(8))["seed"]
    assert options(tq.METRIC, case(7))["seed"] == seed_of(case(7), "tq") != seed_of(case(7), "vqr", 0)


def test_compat_lays_patches_on_the_size_before_enlarging() -> None:
    assert options(tq.METRIC, case(7))["grid"] == "enlarged"
    assert options(tq.COMPAT, case(7)) == {**options(tq.METRIC, case(7)), "grid": "original"}
