"""The suite as a whole: its cards, its profiles, and what they change."""

from __future__ import annotations

import inspect
import re

import pytest
from pydantic import ValidationError

from evaluator.judge import prompts
from evaluator.metrics.base import Metric
from evaluator.schema import FramesNeed
from evaluator.suites import suites
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.data import TaskData
from tests.suites.covebench.judging import case_of

JUDGED = ("uas", "ifs", "vrs", "sem", "uas_task", "physics_issues", "artifact_issues")
AUTOMATED = ("aes", "aes_kf", "tq", "msm", "ssim", "mf", "vqr", "src")


def in_profile(profile: str) -> dict[str, Metric]:
    return {metric.id: metric for metric in SUITE.metrics_of(case_of(), profile)}


def test_the_suite_is_found_and_holds_both_halves() -> None:
    assert suites()["covebench"] is SUITE
    ids = [metric.id for metric in SUITE.metrics]
    assert len(ids) == len(set(ids))
    assert set(ids) == {*JUDGED, *AUTOMATED}


@pytest.mark.parametrize("metric", SUITE.metrics, ids=lambda metric: metric.id)
def test_a_card_is_filled_in(metric: Metric) -> None:
    assert metric.version >= 1
    assert metric.title
    assert metric.summary.endswith(".")
    assert re.search(r"CoVEBench \d\.\d", metric.paper)
    assert len(inspect.getdoc(inspect.getmodule(metric.compute)) or inspect.getdoc(metric.compute) or "") > 40


def test_every_profile_has_every_metric_and_every_variant_is_one() -> None:
    assert set(SUITE.variants) <= set(SUITE.profiles)
    for profile in SUITE.profiles:
        assert list(in_profile(profile)) == [metric.id for metric in SUITE.metrics]
    for variants in SUITE.variants.values():
        assert all(name == metric.id for name, metric in variants.items())
        assert set(variants) <= {metric.id for metric in SUITE.metrics}


@pytest.mark.parametrize("name", JUDGED[:5])
def test_compat_asks_in_batches_and_the_other_profiles_one_by_one(name: str) -> None:
    paper, compat, strict = (in_profile(profile)[name].judged for profile in ("paper", "compat", "strict"))
    assert paper is not None
    assert compat is not None
    assert paper is strict
    assert {prompts.load(one).labels == () for one in compat.prompts} == {True}
    assert {prompts.load(one).labels == () for one in paper.prompts} == {False}


@pytest.mark.parametrize("profile", SUITE.profiles)
def test_the_checklist_scores_share_their_questions_and_their_evidence(profile: str) -> None:
    chosen = [in_profile(profile)[name] for name in JUDGED[:5]]
    assert len({id(metric.judged) for metric in chosen}) == 1
    assert all(metric.needs == chosen[0].needs for metric in chosen)
    assert all(isinstance(need, FramesNeed) for need in chosen[0].needs.values())


def test_what_is_ours_is_listed() -> None:
    assert len({choice.name for choice in SUITE.choices}) == len(SUITE.choices) >= 10


@pytest.mark.parametrize(
    "data", [{}, {"task": 0}, {"task": "1"}, {"task": 1, "tasks": 2}, {"task": 1, "categories": ["Style"]}]
)
def test_data_of_a_case_is_read_strictly(data: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TaskData.model_validate(data)
