"""What one answer is worth, and how a reply becomes answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.errors import AnswerError
from evaluator.schema import encode
from evaluator.suites.covebench.parsing import answers, read_reply
from evaluator.suites.covebench.questions import Dimension, Item, Kind
from evaluator.suites.covebench.rules import counted, score_of

YES = Item("Q", Kind.SINGLE_TF, Dimension.IFS, "?", "Yes")
NO = Item("Q", Kind.DUAL_TF, Dimension.VRS, "?", "No")
OPTION = Item("Q", Kind.AB_MCQ, Dimension.IFS, "?", "A", ("x", "y"))
GRADE = Item("Q", Kind.SCORE_MCQ, Dimension.SEM, "?", "5")


@pytest.mark.parametrize(
    ("item", "said", "reference", "tolerant"),
    [
        (YES, " yes ", 1.0, 1.0),
        (YES, "No", 0.0, 0.0),
        (YES, "Yes.", 0.0, 0.0),  # defect 3: no normalisation, in either
        (YES, "true", 0.0, 1.0),  # defect 2
        (YES, True, 0.0, 1.0),
        (YES, 1, 0.0, 1.0),
        (NO, "false", 0.0, 1.0),
        (NO, 0, 0.0, 1.0),
        (NO, "0", 0.0, 1.0),
        (YES, None, None, None),
        (OPTION, "a", 1.0, 1.0),
        (OPTION, "A.", 0.0, 0.0),  # defect 3
        (OPTION, "A and B", 0.0, 0.0),
        (OPTION, "1", 0.0, 0.0),
        (GRADE, 7, 7.0, 7.0),
        (GRADE, "7", 7.0, 7.0),
        (GRADE, "8/10", None, None),  # defect 3
        (GRADE, 15, 15.0, 10.0),
        (GRADE, 0, 0.0, 1.0),
        (GRADE, "nan", None, None),
        (GRADE, "inf", None, None),
        pytest.param(GRADE, 10**400, None, None, id="beyond any float"),
        (GRADE, "1e300", None, None),  # two of them have no mean
        (GRADE, -1e6, -1e6, 1.0),
        (GRADE, "good", None, None),
    ],
)
def test_worth_of_an_answer(item: Item, said: Any, reference: float | None, tolerant: float | None) -> None:
    assert score_of(item, said, tolerant=False) == reference
    assert score_of(item, said, tolerant=True) == tolerant


def test_worth_of_no_answer() -> None:
    assert [counted(item, None, "reference") for item in (YES, NO, GRADE)] == [None] * 3
    assert [counted(item, None, "wrong") for item in (YES, NO, GRADE)] == [0.0, 0.0, 1.0]
    assert counted(GRADE, 8.0, "wrong") == 8.0


LIST = json.dumps(
    [{"id": "Q1", "reasoning": "r", "final_answer": "Yes"}, {"id": "Q2", "reasoning": "", "answer": "No"}]
)
BOTH = {"Q1": "Yes", "Q2": "No"}


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        f"<think>[not this]</think>{LIST}",
        f"<think>one</think> no, again <think>two {{}}</think>\n{LIST}",
        f"no opening tag, [still] thought</think>{LIST}",
        f"Sure:\n```json\n{LIST}\n```\nAnd [more].",
        f"```\n{LIST}\n```",
        f"My answers are {LIST}, as you see.",
    ],
)
def test_json_is_found_in_what_a_judge_writes(text: str) -> None:
    assert read_reply(text, ["Q1", "Q2"]) == BOTH


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot tell.",
        '{"id": "Q1", "reasoning": "", "answer": "Yes"}',
        "[1] and [2",
        f"see [1]: {LIST}",
        "[" * 9999,
    ],
)
def test_what_is_no_list_of_answers_is_void(text: str) -> None:
    with pytest.raises(AnswerError) as error:
        read_reply(text, ["Q1"])
    assert error.value.code == "unparsed"


def test_the_first_fenced_block_counts_even_if_another_one_is_better() -> None:
    with pytest.raises(AnswerError):
        read_reply(f"```\nnothing\n```\n```json\n{LIST}\n```", ["Q1"])


@pytest.mark.parametrize(
    "fields",
    [
        {"final_answer": "x", "final_score": "y", "answer": "z", "score": "w"},
        {"final_answer": None, "final_score": "x", "answer": "z"},
        {"answer": "x", "score": "w"},
        {"score": "x"},
    ],
)
def test_the_first_field_that_is_not_null_is_the_answer(fields: dict[str, Any]) -> None:
    assert answers([{"id": "Q1", "reasoning": None, **fields}], ["Q1"]) == {"Q1": "x"}


def test_zero_and_false_are_answers() -> None:
    given = [{"id": "Q1", "reasoning": "", "score": 0}, {"id": "Q2", "reasoning": "", "answer": False}]
    assert answers(given, ["Q1", "Q2"]) == {"Q1": 0, "Q2": False}


@pytest.mark.parametrize("given", ["1" * 30, "1" * 400, "NaN", "-Infinity", "1e999", '"\\ud800"', '{"a": "\\udfff"}'])
def test_whatever_a_judge_writes_its_answer_can_be_recorded(given: str) -> None:
    said = read_reply(f'[{{"id": "Q1", "reasoning": "", "final_score": {given}}}]', ["Q1"])
    assert encode({"said": said["Q1"]})
    assert score_of(GRADE, said["Q1"], tolerant=False) is None


@pytest.mark.parametrize("given", [7, 7.5, -3, 2**53, True, "Yes", "ü"])
def test_an_answer_that_can_be_recorded_stays_as_it_is(given: Any) -> None:
    assert answers([{"id": "Q1", "reasoning": "", "answer": given}], ["Q1"]) == {"Q1": given}


def test_answers_that_nobody_asked_for_are_ignored() -> None:
    assert read_reply(LIST, ["Q2"]) == {"Q2": "No"}


@pytest.mark.parametrize(
    "value",
    [
        [{"id": "", "reasoning": "", "answer": "Yes"}],
        [{"id": "Q1", "answer": "Yes"}],
        [{"id": "Q1", "reasoning": "", "answer": None}],
        [{"id": "Q1", "reasoning": "", "answer": "Yes"}, "Q2"],
        [{"id": "Q1", "reasoning": "", "answer": "Yes"}, {"id": "Q3", "reasoning": ""}],
        [{"id": "Q2", "reasoning": "", "answer": "Yes"}],
        {"Q1": "Yes"},
        [],
    ],
    ids=["no id", "no reasoning", "null", "no object", "another without answer", "one is missing", "no list", "empty"],
)
def test_a_reply_is_valid_as_a_whole_or_void(value: Any) -> None:
    with pytest.raises(AnswerError):
        answers(value, ["Q1"])
