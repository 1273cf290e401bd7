"""Strict reading: what does not fit is a status. The schema check is compared with cases from JSON Schema's text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.answer_schema import problems
from evaluator.judge.parse import read
from evaluator.judge.prompts import load
from evaluator.judge.types import Raw, Status

SCHEMA = load("score_reason").answer_schema
GOOD = '{"observation": "A red stripe.", "score": 4}'


def parsed(text: str, finish: str = "stop") -> Status:
    answer = read((), SCHEMA, Raw(text, finish), "k")
    assert (answer.status is Status.OK) == (answer.message == "")
    assert answer.status is Status.OK or answer.value is None
    return answer.status


def test_an_answer_that_fits_is_read() -> None:
    answer = read((), SCHEMA, Raw(f"\n {GOOD} ", "stop"), "k")
    assert (answer.status, answer.value) == (Status.OK, {"observation": "A red stripe.", "score": 4})
    assert answer.label is None
    assert answer.probabilities == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4",
        "Score: 4",
        f"```json\n{GOOD}\n```",
        f"{GOOD} {GOOD}",
        f"Here it is: {GOOD}",
        GOOD[:-1],
        GOOD.replace("4", "9"),
        GOOD.replace("4", '"4"'),
        GOOD.replace("4", "4.0"),
        GOOD.replace("4", "true"),
        GOOD.replace("4", "null"),
        GOOD.replace("4", "NaN"),
        GOOD.replace("4", "1e999"),
        GOOD.replace("4", "9" * 5000),
        GOOD.replace("4}", '4, "score": 5}'),
        GOOD.replace("4}", '4, "note": "x"}'),
        '{"score": 4}',
        GOOD.replace("A red stripe.", "x" * 401),
        GOOD.replace("A red stripe.", "\\ud83d"),
        "[" * 100_000,
        "x" * 300_000,
    ],
    ids=lambda text: text[:24],
)
def test_an_answer_that_does_not_fit_is_unparsed(text: str) -> None:
    assert parsed(text) is Status.UNPARSED


def test_why_the_judge_stopped_decides_first() -> None:
    assert parsed(GOOD, "length") is Status.TRUNCATED
    assert parsed(GOOD, "refusal") is Status.REFUSED
    assert parsed(GOOD, "content_filter") is Status.REFUSED
    assert parsed(GOOD, "abort") is Status.UNPARSED
    assert read(("Yes", "No"), None, Raw("", "refusal"), "k").status is Status.REFUSED


@given(st.text())
def test_no_text_raises(text: str) -> None:
    assert parsed(text) in {Status.OK, Status.UNPARSED}


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [0, -3], [1.0, True, "1", None]),
        ({"type": "number"}, [0, 1.5], [True, "1"]),
        ({"type": ["integer", "null"], "minimum": 1, "maximum": 5}, [1, 5, None], [0, 6, 1.5]),
        ({"type": "boolean"}, [True, False], [0, 1, "true"]),
        ({"enum": ["Yes", 1]}, ["Yes", 1], ["yes", True, 2]),
        ({"const": True}, [True], [1, "True"]),
        ({"type": "string", "minLength": 1, "maxLength": 2}, ["a", "猫猫"], ["", "abc"]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, [[1], [1, 2]], [[], ["1"]]),
        ({"type": "array", "maxItems": 2}, [[], ["a", 2]], [[1, 2, 3]]),
        (
            {"type": "array", "prefixItems": [{"const": "a"}, {"const": "b"}], "items": False, "minItems": 2},
            [["a", "b"]],
            [["a"], ["b", "a"], ["a", "b", "c"]],
        ),
        (
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            [{"a": 1}, {"a": 1, "b": 2}],
            [{}, {"a": "1"}, []],
        ),
        ({"type": "object", "properties": {"a": {}}, "additionalProperties": False}, [{}, {"a": 0}], [{"b": 0}]),
    ],
)
def test_the_schema_check(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    assert [list(problems(value, schema)) for value in good] == [[]] * len(good)
    assert all(list(problems(value, schema)) for value in bad)


def test_a_schema_that_cannot_be_checked_is_refused() -> None:
    with pytest.raises(ValueError, match="pattern"):
        list(problems("x", {"type": "string", "pattern": "x+"}))
