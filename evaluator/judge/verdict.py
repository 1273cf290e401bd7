"""What an answer decided, without the words around it, so that two judges can be compared. Knows answers only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from evaluator.judge.types import Answer, Status


def verdict(answer_schema: Mapping[str, Any] | None, answer: Answer) -> str:
    """The label; or the JSON answer without its free texts, names sorted. Raises ValueError if the answer is not ok."""
    if answer.status is not Status.OK:
        raise ValueError(f"answer {answer.key[:12]} is {answer.status} and decides nothing")
    if answer.label is not None:
        return answer.label
    return orjson.dumps(_decided(answer.value, answer_schema or {}), option=orjson.OPT_SORT_KEYS).decode()


def _decided(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        known: Mapping[str, Any] = schema.get("properties", {})
        kept = {name: (item, known.get(name, {})) for name, item in value.items()}
        return {name: _decided(item, rule) for name, (item, rule) in kept.items() if not _free(rule)}
    if isinstance(value, list):
        return [_decided(item, schema.get("items", {})) for item in value]
    return value


def _free(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and not schema.keys() & {"enum", "const"}
