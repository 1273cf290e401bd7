"""Exclusion lists: complete, counted, and applied."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.errors import NotApplicable, UsageError
from evaluator.metrics.base import Outcome
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.exclusions import excluding, left_out, numbers, published, read, spans
from tests.suites.covebench.judging import case_of


def test_the_published_lists_are_whole() -> None:
    """Counts, sums and overlap as in spec section 6."""
    lists = published()
    assert lists["ssim"] == lists["mf"]
    assert (len(lists["mf"]), sum(lists["mf"])) == (166, 70_060)
    assert (len(lists["msm"]), sum(lists["msm"])) == (305, 84_931)
    assert len(lists["mf"] & lists["msm"]) == 56
    everything = set(range(1, 627))
    assert lists["mf"] | lists["msm"] <= everything
    assert (len(everything - lists["mf"]), len(everything - lists["msm"])) == (460, 321)


@pytest.mark.parametrize("profile", SUITE.profiles)
@pytest.mark.parametrize(("metric", "task"), [("ssim", 44), ("mf", 44), ("msm", 10)])
def test_an_excluded_task_needs_nothing_and_is_filtered_in_every_profile(profile: str, metric: str, task: int) -> None:
    case = case_of(task=task)
    one = {item.id: item for item in SUITE.metrics_of(case, profile)}[metric]
    assert one.needs_for(case) == {}
    assert one.reads == ("data",)
    with pytest.raises(NotApplicable) as error:
        one.compute(case=case)
    assert error.value.reason == "filtered"
    assert str(task) in error.value.message
    assert one.needs_for(case_of(task=9001))


def test_other_metrics_leave_nothing_out() -> None:
    case = case_of(task=44)  # on the list of SSIM and MF
    assert {metric.id for metric in SUITE.metrics if left_out(case, metric.id)} == {"ssim", "mf"}
    assert SUITE.metric("aes").needs_for(case)


def test_a_case_may_say_what_it_is_excluded_from() -> None:
    assert not left_out(case_of(task=44, data={"excluded": []}), "ssim")
    assert left_out(case_of(task=9001, data={"excluded": ["ssim"]}), "ssim")
    assert not left_out(case_of(task=9001, data={"excluded": ["ssim"]}), "mf")


def test_a_case_that_is_not_excluded_is_computed_as_before() -> None:
    base = SUITE.metric("aes")
    seen: dict[str, Any] = {}

    def compute(**given: Any) -> Outcome:
        seen.update(given)
        return Outcome(1.0)

    case = case_of()
    assert excluding(replace(base, compute=compute)).compute(case=case, aesthetics=7).value == 1.0
    assert seen == {"aesthetics": 7}
    seen.clear()
    excluding(replace(base, compute=compute, reads=("prompt",))).compute(case=case, aesthetics=7)
    assert seen == {"case": case, "aesthetics": 7}


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(st.sets(st.integers(1, 700), min_size=1))
def test_spans_and_numbers_are_inverse(tasks: set[int]) -> None:
    assert numbers(spans(tasks)) == tasks


@pytest.mark.parametrize(
    "text",
    [
        b"[]",
        b"{}",
        b"not json",
        b'{"lists": [{"metrics": ["ssim"], "tasks": "1-3"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 2, "tasks": "1-3"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 3, "sum": 7, "tasks": "1-3"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 1, "tasks": "3-1"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 1, "tasks": "0"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 1, "tasks": "1-99999999999999"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 1, "tasks": "x"}]}',
        b'{"lists": [{"metrics": ["ssim"], "count": 1, "tasks": 5}]}',
    ],
)
def test_a_list_of_another_form_or_size_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError):
        read(text, "mine.json")


def test_a_list_of_ones_own() -> None:
    lists = [{"metrics": ["ssim"], "count": 3, "tasks": "1-2, 9"}, {"metrics": ["ssim"], "count": 1, "tasks": "4"}]
    assert read(json.dumps({"lists": lists}).encode(), "mine.json") == {"ssim": frozenset({1, 2, 4, 9})}
