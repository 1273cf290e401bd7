"""SRC: the mean over frames, and every reason why there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.features import RegionSimilarity
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import Case, ExpertNeed
from evaluator.suites.covebench.src import COMPAT, METRIC, STRICT
from tests.metrics.build import plain


def case(entities: list[str] | None = None, *levels: str) -> Case:
    categories = [[level, "x", "y"] for level in levels]
    return Case("1/a", "covebench", Path("a.mp4"), data={"task": 1, "entities": entities, "categories": categories})


def similarity(cosine: list[float], missing: list[bool] | None = None, output: tuple[str, ...] = ("dog",)) -> Any:
    absent = np.array(missing or [False] * len(cosine), bool)
    return RegionSimilarity(np.array(cosine, np.float32), absent, (("dog", "tree"), output), len(cosine) + 1)


def score(found: RegionSimilarity, metric: Metric = METRIC) -> Outcome:
    return metric.compute(case=case(["dog", "tree"]), similarity=found)


def reason(metric: Metric = METRIC, **given: Any) -> str:
    with pytest.raises(NotApplicable) as caught:
        metric.compute(**given)
    return caught.value.reason


def test_cosines_are_mapped_and_missing_frames_are_zero() -> None:
    found = score(similarity([1.0, 0.0, 0.5, -1.0], [False, False, False, True]))
    assert found.value == pytest.approx((1 + 0.5 + 0.75 + 0) / 4)
    assert found.details["used_frames"] == 4
    assert found.details["compared_frames"] == 5
    assert (found.details["missing_in_target"], found.details["missing_rate"]) == (1, 0.25)
    assert found.details["kept"] == {"source": ["dog", "tree"], "output": ["dog"]}
    assert plain(dict(found.details))


def test_a_missing_frame_is_zero_whatever_its_cosine() -> None:
    assert score(similarity([1.0, 1.0], [False, True])).value == 0.5


def test_rounding_above_one_is_cut_off() -> None:
    assert score(similarity([1.0000001])).value == 1.0


def test_nothing_in_the_source_is_no_score() -> None:
    nothing = RegionSimilarity(np.zeros(0, np.float32), np.zeros(0, bool), ((), ("dog",)), 4)
    for metric in (METRIC, COMPAT, STRICT):
        assert reason(metric, case=case(["dog"]), similarity=nothing) == "not_applicable"


def test_known_defect_the_worst_edits_drop_out_unless_strict() -> None:
    """CoVEBench 10, point 8: an edit in which nothing is found leaves the mean."""
    gone = similarity([-1.0, -1.0], [True, True], output=())
    assert reason(case=case(["dog"]), similarity=gone) == "not_applicable"
    assert score(gone, STRICT).value == 0.0


@pytest.mark.parametrize("level", ["Camera", "Style", "camera "])
def test_tasks_about_the_whole_picture_are_filtered(level: str) -> None:
    one = case(["dog"], "Subject", level)
    assert METRIC.needs_for(one) == {}
    assert reason(case=one) == "filtered"


def test_without_phrases_it_is_said_what_is_missing() -> None:
    assert METRIC.needs_for(case()) == {}
    assert reason(case=case()) == "unavailable"
    assert reason(case=case([])) == "not_applicable"


def options(metric: Metric) -> dict[str, object]:
    need = metric.needs_for(case(["a dog", 'a "red" tree'], "Subject"))["similarity"]
    assert isinstance(need, ExpertNeed)
    assert (need.capability, need.roles) == ("region_similarity", ("source", "video"))
    assert list(need.options) == sorted(need.options)
    return dict(need.options)


def test_profiles_differ_in_frames_only() -> None:
    phrases = {"phrases": '["a dog","a \\"red\\" tree"]'}
    assert options(METRIC) == options(STRICT) == phrases
    assert options(COMPAT) == {**phrases, "box_frame": "first", "pictures": "stride"}
