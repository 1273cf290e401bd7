"""JSON Schema for answers: the part of it that prompts use, checked by ourselves.

Constrained decoding promises that an answer fits, and some servers ignore the constraint without a word, so that every
answer is checked here. A schema with a keyword that is not known below is refused: it would promise what nobody checks.
Source: JSON Schema 2020-12. Knows JSON only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
}
_LIMITS: dict[str, tuple[str, Callable[[Any, Any], bool]]] = {  # keyword: (type that it limits, test)
    "minimum": ("number", lambda value, limit: value >= limit),
    "maximum": ("number", lambda value, limit: value <= limit),
    "minLength": ("string", lambda value, limit: len(value) >= limit),
    "maxLength": ("string", lambda value, limit: len(value) <= limit),
    "minItems": ("array", lambda value, limit: len(value) >= limit),
    "maxItems": ("array", lambda value, limit: len(value) <= limit),
}
_KEYWORDS = {
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
    *_LIMITS,
}


def problems(value: Any, schema: Mapping[str, Any], where: str = "answer") -> Iterator[str]:
    """Everything in which `value` does not fit, as sentences. Raises ValueError for a schema with another keyword."""
    if unknown := schema.keys() - _KEYWORDS:
        raise ValueError(f"answer schema: {sorted(unknown)} cannot be checked")
    yield from _kind_problems(value, schema, where)
    for keyword, (kind, holds) in _LIMITS.items():
        if keyword in schema and _TYPES[kind](value) and not holds(value, schema[keyword]):
            yield f"{where}: {keyword} is {schema[keyword]}"
    if isinstance(value, dict):
        yield from _object_problems(value, schema, where)
    if isinstance(value, list):
        yield from _list_problems(value, schema, where)


def _kind_problems(value: Any, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    kinds = schema.get("type", list(_TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(_TYPES[kind](value) for kind in kinds):
        yield f"{where}: expected {' or '.join(kinds)}, found {type(value).__name__}"
    allowed = [schema["const"]] if "const" in schema else schema.get("enum")
    if allowed is not None and not any(_same(value, choice) for choice in allowed):
        yield f"{where}: expected one of {allowed}, found {str(value)[:80]!r}"


def _same(value: Any, choice: Any) -> bool:
    """Equality of JSON: True is not 1."""
    return isinstance(value, bool) == isinstance(choice, bool) and bool(value == choice)


def _object_problems(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{where}: {name!r} is missing" for name in schema.get("required", ()) if name not in value)
    for name, item in value.items():
        if name in known:
            yield from problems(item, known[name], f"{where}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{where}: {name[:80]!r} was not asked for"


def _list_problems(value: list[Any], schema: Mapping[str, Any], where: str) -> Iterator[str]:
    first = schema.get("prefixItems", ())
    for index, item in enumerate(value):
        rule = first[index] if index < len(first) else schema.get("items", {})
        if rule is False:
            yield f"{where}: more than {len(first)} entries"
            return
        yield from problems(item, rule, f"{where}[{index}]")
