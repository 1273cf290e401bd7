"""From what a back end returned to an answer, strictly: what does not fit is a status, never a guess.

No search for braces in prose, no first number in a sentence, no repair: with constrained decoding nothing needs
mending, and without it a mended answer is an invented one. The same reply always reads the same, so that a recorded
reply is read again on every replay. Knows replies, labels and schemas; no back end, no ledger.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

import orjson

from evaluator.judge.answer_schema import problems
from evaluator.judge.labels import read_labels
from evaluator.judge.types import Answer, Raw, Status

LONGEST = 200_000
"""Characters of an answer that are looked at: a judge that writes more did not answer."""

_REFUSALS = {"refusal", "content_filter"}
_SHOWN = 5  # problems of one answer that a message names


def read(labels: Sequence[str], answer_schema: Mapping[str, Any] | None, raw: Raw, key: str) -> Answer:
    """The answer to a question with these `labels`, else with this schema, else in plain text."""
    if raw.finish_reason in _REFUSALS:
        return Answer(Status.REFUSED, key, message=f"the judge stopped with {raw.finish_reason!r}: {raw.text[:80]!r}")
    if labels:
        return read_labels(labels, raw.label_logprobs, raw.text, key)
    if raw.finish_reason == "length":
        return Answer(Status.TRUNCATED, key, message=f"cut off after {len(raw.text)} characters by the token limit")
    if raw.finish_reason != "stop":
        return Answer(Status.UNPARSED, key, message=f"the judge stopped with {raw.finish_reason!r}")
    return _read_text(raw.text, key) if answer_schema is None else _read_json(answer_schema, raw.text, key)


def _read_text(text: str, key: str) -> Answer:
    """Plain text, word for word: what it means is for the protocol that asked to say."""
    try:
        orjson.dumps(text)  # lone surrogates fit no record
    except orjson.JSONEncodeError as error:
        return Answer(Status.UNPARSED, key, message=f"not text ({error}): {text[:80]!a}")
    if not text.strip() or len(text) > LONGEST:
        return Answer(Status.UNPARSED, key, message=f"expected a text of 1 to {LONGEST} characters, found {len(text)}")
    return Answer(Status.OK, key, value=text)


def _read_json(answer_schema: Mapping[str, Any], text: str, key: str) -> Answer:
    try:
        value = _strict_json(text)
        orjson.dumps(value)  # lone surrogates and numbers beyond 64 bits fit no record
    except (ValueError, RecursionError, orjson.JSONEncodeError) as error:
        return Answer(Status.UNPARSED, key, message=f"not JSON ({type(error).__name__}: {error}): {text[:80]!a}")
    if found := list(islice(problems(value, answer_schema), _SHOWN)):
        return Answer(Status.UNPARSED, key, message="; ".join(found))
    return Answer(Status.OK, key, value=value)


def _strict_json(text: str) -> Any:
    """JSON without the liberties of Python's reader: no NaN, no name given twice, no endless text."""
    if len(text) > LONGEST:
        raise ValueError(f"{len(text)} characters")
    return json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"{digits} is beyond any number")
    return value


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
