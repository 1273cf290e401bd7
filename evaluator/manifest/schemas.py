"""JSON Schemas of lines: of a case and of a score, generated from the types that read and write them.

Files are made of these, and of the schemas of a run's other files, by `evaluator.report.schemas`.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from evaluator.manifest.model import CaseLine
from evaluator.schema import SCHEMA_VERSION, SKIP_REASONS, Score

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


class Untitled(GenerateJsonSchema):
    """Without a title on every property that only repeats the property's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def case_schema() -> Schema:
    """One line of a manifest. What a suite expects under `data` is checked by that suite."""
    return {"$schema": DIALECT, **CaseLine.model_json_schema(schema_generator=Untitled)}


def score_schema() -> Schema:
    """One line of scores.jsonl: every key is present, no other is, and a value exists exactly when the status is ok."""
    return {**written(Score, "evaluator score record"), "allOf": _status_rules()}


def written(record: Any, title: str) -> Schema:
    """The schema of a record as `to_tree` writes it: all of its keys, so that none has a default, and no other.

    Keys may be absent only from a TypedDict that is not total.
    """
    tree = TypeAdapter(record).json_schema(mode="serialization", schema_generator=Untitled)
    for part in (tree, *tree.get("$defs", {}).values()):
        properties = part.get("properties", {})
        for rule in properties.values():
            rule.pop("default", None)
        if properties:
            part["additionalProperties"] = False
        if "required" in part:
            part["required"] = list(properties)
    tree["properties"]["schema"] = {"const": SCHEMA_VERSION}
    return {"$schema": DIALECT, **tree, "title": title}


def _status_rules() -> list[Schema]:
    """What the status says about value and reason, as `Score` enforces it."""
    reasons = {"properties": {"code": {"enum": sorted(SKIP_REASONS)}}}
    then = {
        "ok": {"value": {"type": "number"}, "reason": {"type": "null"}},
        "skipped": {"value": {"type": "null"}, "reason": {"type": "object", **reasons}},
        "failed": {"value": {"type": "null"}, "reason": {"type": "object"}},
    }
    return [
        {"if": {"properties": {"status": {"const": status}}}, "then": {"properties": rule}}
        for status, rule in then.items()
    ]
