"""Questions that are answered in plain text: for networks that were trained to answer in a form of their own."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from evaluator.judge import prompts
from evaluator.judge.dialect import chat_request
from evaluator.judge.keys import request
from evaluator.judge.parse import LONGEST, read
from evaluator.judge.types import Question, Raw, Status
from evaluator.judge.verdict import verdict
from tests.judge.fakes import ask, ask_json

FILE = b"---\npurpose: Test.\nanswer: text\ntokens: 64\n---\n## system\nBe brief.\n## question\nSay it.\n"


def question() -> Question:
    return prompts.parse("x", FILE, b"rules").ask("item", (), {})


def test_a_prompt_for_text_has_neither_labels_nor_a_schema() -> None:
    asked = question()
    assert (asked.labels, asked.answer_schema, asked.max_tokens) == ((), None, 64)
    for extra in (b'## schema\n{"type": "object"}\n', b""):
        content = FILE + extra if extra else FILE.replace(b"answer: text\n", b"answer: text\nlabels: Yes No\n")
        with pytest.raises(ValueError, match="expected one of"):
            prompts.parse("x", content, b"")


def test_a_server_is_asked_for_text_without_a_constraint() -> None:
    body = chat_request(question(), "judge", [])
    assert not {"response_format", "logprobs", "allowed_token_ids"} & body.keys()
    assert (body["max_tokens"], body["temperature"]) == (64, 0)
    assert "response_format" in chat_request(ask_json(), "judge", [])


@pytest.mark.parametrize("text", ["<answer>3.2</answer>", " 4\n", '{"score": 1}', "ü <|x|>"])
def test_text_comes_back_word_for_word(text: str) -> None:
    answer = read((), None, Raw(text, "stop"), "k")
    assert (answer.status, answer.value, answer.label) == (Status.OK, text, None)
    assert json.loads(verdict(None, answer)) == text


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (Raw("3.2", "length"), Status.TRUNCATED),
        (Raw("I cannot", "refusal"), Status.REFUSED),
        (Raw("3.2", "tool_calls"), Status.UNPARSED),
        (Raw("  \n", "stop"), Status.UNPARSED),
        (Raw("", "stop"), Status.UNPARSED),
        (Raw("x" * (LONGEST + 1), "stop"), Status.UNPARSED),
        (Raw("3.2 \ud800", "stop"), Status.UNPARSED),
    ],
)
def test_what_is_no_text_is_a_status(raw: Raw, status: Status) -> None:
    answer = read((), None, raw, "k")
    assert (answer.status, answer.value) == (status, None)


def test_the_form_of_the_answer_is_part_of_the_request() -> None:
    asked = question()
    assert request(asked)["answer_schema"] is None
    assert request(asked) != request(replace(asked, answer_schema={"type": "string"})) != request(ask())
