"""Open-ended passes: what is one issue, and which ones count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.judge.types import Question, Raw
from evaluator.schema import Status
from evaluator.suites.covebench.forensics import merged
from tests.suites.covebench.judging import case_of, judged


def issue(subtype: str, start: float, end: float, severity: int = 2) -> dict[str, Any]:
    return {"subtype": subtype, "start_s": start, "end_s": end, "evidence": "seen", "severity": severity}


def spans(issues: list[dict[str, Any]]) -> list[tuple[str, float, float, int]]:
    return [(one["subtype"], one["start_s"], one["end_s"], one["severity"]) for one in merged(issues)]


def test_overlapping_issues_of_one_subtype_are_one_as_severe_as_the_worst() -> None:
    found = spans([issue("Gravity", 2, 4, 1), issue("gravity ", 0, 2, 3), issue("gravity", 3, 3.5)])
    assert found == [("gravity", 0.0, 4.0, 3)]


def test_issues_apart_or_of_another_kind_are_two() -> None:
    assert len(merged([issue("gravity", 0, 1), issue("gravity", 1.1, 2)])) == 2
    assert len(merged([issue("gravity", 0, 1), issue("light", 0, 1)])) == 2
    assert merged([]) == []


def test_a_span_that_is_given_backwards_is_turned_round() -> None:
    assert spans([issue("ghost", 3, 1), issue("ghost", 0, 1.5)]) == [("ghost", 0.0, 3.0, 2)]


def test_the_order_in_which_a_judge_lists_them_does_not_matter() -> None:
    issues = [issue("ghost", 0, 1), issue("ghost", 2, 3, 3), issue("ghost", 0.5, 2.5, 1), issue("flicker", 1, 2)]
    assert spans(issues) == spans(issues[::-1])


@pytest.mark.parametrize("metric", ["physics_issues", "artifact_issues"])
def test_severe_issues_are_counted(tmp_path: Path, metric: str) -> None:
    issues = [issue("a", 0, 1, 1), issue("b", 0, 1, 2), issue("c", 0, 1, 3), issue("c", 0.5, 2, 1)]
    asked: list[Question] = []

    def reply(question: Question) -> Raw:
        asked.append(question)
        return Raw(json.dumps({"issues": issues}), "stop")

    found = judged(case_of(prompt="Melt it."), reply, tmp_path, metrics=(metric,))[metric]
    assert found.value == 2.0
    assert found.details["listed"] == 4
    assert len(found.details["issues"]) == 3
    assert any(getattr(part, "text", "") == "Melt it." for part in asked[0].parts)  # so that a wish is no fault
    assert [part.name for part in asked[0].parts if hasattr(part, "frames")] == ["Video B"]


def test_no_issue_is_none_and_a_reply_that_does_not_fit_is_a_failure(tmp_path: Path) -> None:
    none = judged(case_of(), lambda _: Raw('{"issues": []}', "stop"), tmp_path / "1", metrics=("physics_issues",))
    assert none["physics_issues"].value == 0.0
    odd = judged(
        case_of(),
        lambda _: Raw(json.dumps({"issues": [issue("a", 0, 1, 9)]}), "stop"),
        tmp_path / "2",
        metrics=("physics_issues",),
    )
    assert odd["physics_issues"].status is Status.FAILED
