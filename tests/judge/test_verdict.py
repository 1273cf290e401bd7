"""What an answer decided does not depend on the words around it."""

from __future__ import annotations

import pytest

from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Status
from evaluator.judge.verdict import verdict


def test_a_label_is_its_own_verdict() -> None:
    assert verdict(None, Answer(Status.OK, "k", label="Yes")) == "Yes"


def test_free_texts_do_not_count_and_choices_do() -> None:
    schema = load("yes_no_reason").answer_schema
    one = Answer(Status.OK, "k", value={"observation": "a red stripe", "answer": "Yes"})
    two = Answer(Status.OK, "k", value={"answer": "Yes", "observation": "something red"})
    assert verdict(schema, one) == verdict(schema, two) == '{"answer":"Yes"}'


def test_lists_and_nested_grades_are_compared() -> None:
    value = {"corrections": [{"clip": "A", "score": 3, "reason": "words"}]}
    assert verdict(load("rejudge").answer_schema, Answer(Status.OK, "k", value=value)) == (
        '{"corrections":[{"clip":"A","score":3}]}'
    )


def test_a_failure_decides_nothing() -> None:
    with pytest.raises(ValueError, match="unparsed"):
        verdict(None, Answer(Status.UNPARSED, "k"))
