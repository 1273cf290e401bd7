"""From a judge's reply to all questions of one type to one answer per question, by the reference's rules.

A judge that writes freely may think aloud before its JSON, or fence it in: that is cut away first. Either all
requested questions are answered or the reply is void. Source: CoVEBench 3.2, 3.3.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from evaluator.errors import AnswerError
from evaluator.suites.covebench.rules import Said

FIELDS = ("final_answer", "final_score", "answer", "score")
"""Where an answer may stand: the first of them that is not null."""

EXACT = 2**53
"""Whole numbers up to this one are the same in every JSON reader."""

_THOUGHT = "</think>"
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n?(.*?)```", re.DOTALL)


def read_reply(text: str, requested: Sequence[str]) -> dict[str, Said]:
    """Answers to the requested questions from free text. Raises AnswerError("unparsed") if the reply is void."""
    try:
        value = json.loads(_outlined(text.rpartition(_THOUGHT)[2]))
    except (ValueError, RecursionError) as error:
        raise AnswerError("unparsed", f"no JSON in the reply: {text[:80]!r}") from error
    return answers(value, requested)


def answers(value: Any, requested: Sequence[str]) -> dict[str, Said]:
    """Answers to the requested questions from JSON; others are ignored. Raises AnswerError("unparsed").

    Valid: a list of objects, each with an id, the key `reasoning` and an answer, that misses none of the requested.
    """
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise AnswerError("unparsed", "the reply is not a list of objects")
    found: dict[str, Said] = {}
    for entry in value:
        name = str(entry.get("id") or "")
        given = next((entry[field] for field in FIELDS if entry.get(field) is not None), None)
        if not name or "reasoning" not in entry or given is None:
            raise AnswerError("unparsed", f"an entry lacks id, reasoning or answer: {str(entry)[:80]}")
        found[name] = _said(given)
    if lost := [name for name in requested if name not in found]:
        raise AnswerError("unparsed", f"no answer to {', '.join(lost)}")
    return {name: found[name] for name in requested}


def _said(given: Any) -> Said:
    """An answer as a record can hold it: a number within EXACT, else text; half a surrogate pair is written out."""
    if isinstance(given, int | float) and abs(given) <= EXACT:  # NaN is not
        return given
    return str(given).encode("utf-8", "backslashreplace").decode()


def _outlined(text: str) -> str:
    """The first fenced block; else the widest [...]; else the widest {...}; else everything."""
    fenced = _FENCE.search(text)
    if fenced:
        return fenced[1]
    for opening, closing in ("[]", "{}"):
        start, end = text.find(opening), text.rfind(closing)
        if 0 <= start < end:
            return text[start : end + 1]
    return text
