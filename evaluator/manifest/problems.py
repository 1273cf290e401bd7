"""How a problem of a manifest is worded: `file:line: field: expected ..., found ...; what to do`.

A manifest is untrusted text: whatever is quoted from it is escaped, so that a message is always one printable line.
Knows pydantic's error records, and nothing about cases.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails

QUOTED = 60
"""Characters of a value that a message repeats."""

_EXPECTED = {
    "string_type": "text",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "bool_type": "true or false",
    "int_type": "an integer",
    "float_type": "a number",
}
"""pydantic's error type -> what JSON calls the thing; other errors keep pydantic's own words."""

_KINDS = {dict: "an object", list: "a list", bool: "a truth value", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong on one line."""

    line: int
    field: str
    expected: str
    found: str
    remedy: str = ""

    def shown(self, file: str) -> str:
        """The whole message, one printable line."""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{file}:{self.line}: {self.field}: expected {self.expected}, found {self.found}{remedy}"


def shown(text: str) -> str:
    """`text` as it is if it is printable, else as an escaped JSON string."""
    return text if text.isprintable() else json.dumps(text)


def quoted(value: Any) -> str:
    """A value for a message: text and numbers as JSON, cut to QUOTED characters; anything else by its kind."""
    if type(value) in _KINDS:
        return _KINDS[type(value)]
    text = json.dumps(value) if isinstance(value, str) and not value.isprintable() else f'"{value}"'
    text = text if isinstance(value, str) else f"the number {value}"
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}... ({len(text)} characters)"


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean "x"?` for the known word that looks most like `word`, or an empty text."""
    found = difflib.get_close_matches(word.lower()[:QUOTED], sorted(known), n=1, cutoff=0.6)
    return f'did you mean "{found[0]}"?' if found else ""


def location(parts: Sequence[str | int]) -> str:
    """("references", 0, "path") -> references[0].path"""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{shown(part)}"
    return text.removeprefix(".")


def explained(error: ErrorDetails, line: int, known: Iterable[str]) -> Problem:
    """A problem from one pydantic error record. `known` are the keys allowed where the error is."""
    field, found = location(error["loc"]), quoted(error["input"])
    name = str(error["loc"][-1]) if error["loc"] else ""
    if error["type"] == "missing":
        return Problem(line, field, "a value", "nothing", f'add the key "{name}"')
    if error["type"] == "extra_forbidden":
        known = sorted(known)
        remedy = nearest(name, known) or (f"known are {', '.join(known)}" if known else "remove it")
        return Problem(line, field, "a known key", quoted(name), remedy)
    return Problem(line, field, _EXPECTED.get(error["type"]) or _expectation(error["msg"]), found)


def _expectation(message: str) -> str:
    """`Input should be 'a' or 'b'` -> `'a' or 'b'`; one printable line whatever a suite's own validator says."""
    message = shown(" ".join(message.split()))
    return re.sub(r"^(Input|String|List|Dictionary|Value)( error,)? (should (be|have) )?", "", message)
