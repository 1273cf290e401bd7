"""A second try: who gets one, what is said, and which answer counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.prompts import load
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status, TextPart
from evaluator.metrics.base import Judged, Outcome
from evaluator.metrics.second_chance import COMPLAINT, FORM, corrected, once_more, settling
from evaluator.schema import Case
from evaluator.suites import suites

CASE = Case("c", "core", Path("/v.mp4"))


def ask(case: Case, **media: Any) -> Sequence[Question]:
    return [load("score_reason").ask(f"c/m/{name}", (), {"question": name}) for name in ("one", "two", "three")]


def odd(case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    return "the score is odd" if answer.value % 2 else ""


def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
    return Outcome(0.0, details={"values": [answer.value for answer in answers]})


JUDGED = once_more(Judged(ask, ("prompt",), ("score_reason",)), odd)


def said(value: Any) -> Answer:
    return Answer(Status.OK, "k", value=value) if isinstance(value, int) else Answer(value, "k")


def again(*values: Any) -> Sequence[Any]:
    assert JUDGED.again is not None
    return JUDGED.again(CASE, [said(value) for value in values])


def settled(*values: Any, refuse: bool = True) -> Mapping[str, Any]:
    found = settling(compute, odd, refuse=refuse)
    return found(case=CASE, answers=[said(value) for value in values]).details


def test_only_what_cannot_be_used_is_asked_again_and_told_why() -> None:
    first, second = again(2, 3, Status.UNPARSED)
    assert [one.parts[-2] for one in (first, second)] == [
        TextPart("An earlier answer was refused: the score is odd.", COMPLAINT, untrusted=True),
        TextPart(FORM, COMPLAINT, untrusted=True),
    ]
    assert first.parts[-1] == ask(CASE)[1].parts[-1]  # the last words stay the last
    assert again(2, 4, 6) == []


@pytest.mark.parametrize("status", [Status.REFUSED, Status.TRANSIENT, Status.NOT_AVAILABLE, Status.ERROR])
def test_a_judge_that_will_not_or_cannot_is_left_alone(status: Status) -> None:
    assert again(2, status, 4) == []


def test_nobody_is_asked_a_third_time() -> None:
    assert again(2, 3, 4, 5) == []
    assert again(2, 3, Status.UNPARSED, Status.UNPARSED, 5) == []


def test_the_second_answer_counts_in_its_place() -> None:
    assert settled(2, 3, Status.UNPARSED, 8, 4) == {"values": [2, 8, 4], "asked_again": 2}
    assert settled(2, 4, 6) == {"values": [2, 4, 6], "asked_again": 0}


def test_a_second_contradiction_is_no_answer_unless_the_metric_picks_what_it_can_use() -> None:
    assert settled(2, 3, 4, 5) == {"values": [2, None, 4], "asked_again": 1}
    assert settled(2, 3, 4, 5, refuse=False) == {"values": [2, 5, 4], "asked_again": 1}


@given(st.lists(st.integers(0, 9), min_size=3, max_size=3), st.data())
def test_answers_and_second_answers_are_never_mixed_up(first: list[int], data: st.DataObject) -> None:
    second = [data.draw(st.integers(10, 99).map(lambda n: 2 * n)) for value in first if value % 2]
    left = iter(second)
    expected = [next(left) if value % 2 else value for value in first]
    assert settled(*first, *second)["values"] == expected


def test_a_question_with_a_substitute_has_no_second_try() -> None:
    with pytest.raises(ValueError, match="substitute"):
        corrected(Routed(ask(CASE)[0]), FORM)


def second_tries() -> Iterator[Judged]:
    """Whatever any profile of a suite asks once more."""
    changed = [metric for suite in suites().values() for own in suite.variants.values() for metric in own.values()]
    for metric in (*(metric for suite in suites().values() for metric in suite.metrics), *changed):
        if metric.judged and getattr(metric.judged.again, "func", None) is getattr(JUDGED.again, "func"):  # noqa: B009
            yield metric.judged


def test_every_prompt_that_may_be_asked_again_says_what_a_complaint_is() -> None:
    """Data blocks are never an order: a judge that is not told of this one has no reason to heed it."""
    prompts = {name for judged in second_tries() for name in judged.prompts}
    assert {"score_reason", "avenue_av_consistency", "avenue_grades", "multiref_binding"} <= prompts
    assert [name for name in sorted(prompts) if f'"{COMPLAINT}"' not in load(name).system] == []
