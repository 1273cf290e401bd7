"""Bytes of a manifest to numbered JSON objects, refusing what two JSON readers could understand differently.

Refused: other encodings than UTF-8, a key given twice, NaN and Infinity (spelled out or by overflow), integers beyond
64 bits, half surrogate pairs, nesting beyond MAX_DEPTH, lines beyond MAX_LINE. Accepted: a byte order mark, CRLF,
blank lines. Knows nothing about cases.
"""

from __future__ import annotations

import codecs
import json
import math
from collections.abc import Iterator
from typing import Any

from evaluator.manifest.problems import Problem, quoted

MAX_LINE = 4 << 20
"""Bytes of one line. A case with hundreds of inline questions takes a hundredth of that."""
MAX_DEPTH = 32
"""Objects and lists inside each other, the line's own object included."""

LINE, FILE = "(line)", "(file)"
"""What a message names when no single field is at fault."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(line number from 1, bytes without the line end) of every line that is not blank.

    Only LF ends a line: U+2028 and its like may stand inside a JSON string.
    """
    for number, line in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        if line.strip(b" \t\r"):
            yield number, line.strip(b" \t\r")


def unreadable(data: bytes) -> Problem | None:
    """What is wrong with the file as a whole, if anything."""
    if data.startswith(_UTF16):
        return Problem(1, FILE, "UTF-8 text", "UTF-16 text", "save the manifest as UTF-8")
    if b"\0" in data[:MAX_LINE]:  # JSON can only hold it escaped
        return Problem(1, FILE, "UTF-8 text", "binary data", "give the path of a manifest, or save it as UTF-8")
    if next(lines(data), None) is None:
        return Problem(1, FILE, "at least one case", "none", "write one JSON object per line")
    return None


def parse(number: int, line: bytes) -> dict[str, Any] | Problem:
    """The JSON object of one line, or what is wrong with the line."""
    if len(line) > MAX_LINE:
        found = f"{len(line)} bytes"
        return Problem(number, LINE, f"at most {MAX_LINE} bytes", found, "put long lists into a checklist file")
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte 0x{line[error.start]:02x} at column {error.start + 1}"
        return Problem(number, LINE, "UTF-8 text", found, "save the manifest as UTF-8")
    tree = _tree(number, text)
    if isinstance(tree, dict | Problem):
        return tree
    return Problem(number, LINE, "one JSON object", quoted(tree), "one line is one case")


def document(number: int, field: str, data: bytes) -> Any | Problem:
    """The content of a whole JSON file that `field` of a line names, or what is wrong with it. As strict as a line."""
    if len(data) > MAX_LINE:
        return Problem(number, field, f"a file of at most {MAX_LINE} bytes", "a longer one", "split it")
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        return Problem(number, field, "UTF-8 text", f"byte 0x{data[error.start]:02x}", "save the file as UTF-8")
    tree = _tree(number, text)
    if isinstance(tree, Problem):
        place = "in the file" if tree.field in {LINE, FILE} else f"in the file, {tree.field}"
        return Problem(number, f"{field} ({place})", tree.expected, tree.found, tree.remedy)
    return tree


class _Refused(ValueError):
    """JSON that the standard library would accept and we do not: (field, expected, found)."""


def _tree(number: int, text: str) -> Any | Problem:
    try:
        tree = json.loads(text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer)
    except _Refused as refusal:
        return Problem(number, *refusal.args)
    except json.JSONDecodeError as error:
        row = f"line {error.lineno}, " if "\n" in text else ""
        found = f"a fault at {row}column {error.colno} ({error.msg})"
        return Problem(number, LINE, "one JSON object", found, "one line is one case" if not row else "")
    except RecursionError:
        return _too_deep(number)
    return _flaw(number, tree) or tree


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for key, value in pairs:
        if key in tree:
            raise _Refused(quoted(key), "each key once", "it again in the same object", "keep one of them")
        tree[key] = value
    return tree


def _constant(word: str) -> Any:
    raise _Refused(LINE, "finite numbers", word, "use null, or leave the key out")


def _integer(digits: str) -> int:
    # Twenty digits decide without handing int() a number of a million digits.
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**64:
        raise _Refused(LINE, "integers of at most 64 bits", f"one of {len(digits)} digits", "write it as text")
    return int(digits)


def _too_deep(number: int) -> Problem:
    return Problem(number, LINE, f"at most {MAX_DEPTH} levels of nesting", "more", "flatten the structure")


def _flaw(number: int, tree: Any) -> Problem | None:
    """The first value that later stages could not write back: too deep, half a surrogate pair, an infinite number."""
    stack = [(tree, 1)]
    while stack:
        value, depth = stack.pop()
        if isinstance(value, dict | list) and depth > MAX_DEPTH:
            return _too_deep(number)
        if isinstance(value, dict):
            stack += [(item, depth + 1) for pair in value.items() for item in pair]
        elif isinstance(value, list):
            stack += [(item, depth + 1) for item in value]
        elif isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value):
            return Problem(number, LINE, "whole Unicode characters", f"half a surrogate pair in {quoted(value)}")
        elif isinstance(value, float) and not math.isfinite(value):
            return Problem(number, LINE, "finite numbers", "one beyond the range of a double", "write it as text")
    return None
