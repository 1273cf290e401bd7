"""The JSON Schemas under manifests/, generated from the code that reads and writes these lines.

`python -m evaluator.manifest.schemas FOLDER` writes them; a test fails when a stored file and the code differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from evaluator.manifest.model import CaseLine
from evaluator.schema import SCHEMA_VERSION, SKIP_REASONS, Score

DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


class _Untitled(GenerateJsonSchema):
    """Without a title on every property that only repeats the property's name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def case_schema() -> Schema:
    """One line of a manifest. What a suite expects under `data` is checked by that suite."""
    return {"$schema": DIALECT, **CaseLine.model_json_schema(schema_generator=_Untitled)}


def score_schema() -> Schema:
    """One line of scores.jsonl: every key is present, no other is, and a value exists exactly when the status is ok."""
    tree = TypeAdapter(Score).json_schema(mode="serialization", schema_generator=_Untitled)
    for record in (tree, tree["$defs"]["ModelRef"], tree["$defs"]["Reason"]):
        record |= {"required": list(record["properties"]), "additionalProperties": False}
    tree["properties"]["schema"] = {"const": SCHEMA_VERSION}
    return {"$schema": DIALECT, **tree, "title": "evaluator score record", "allOf": _status_rules()}


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


SCHEMAS: Mapping[str, Callable[[], Schema]] = {"case.schema.json": case_schema, "score.schema.json": score_schema}
"""File name -> the function that generates it."""


def text(schema: Schema) -> bytes:
    """The bytes of a schema file."""
    return orjson.dumps(schema, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def write(folder: Path) -> None:
    """Write every schema file into `folder`."""
    for name, generate in SCHEMAS.items():
        (folder / name).write_bytes(text(generate()))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
