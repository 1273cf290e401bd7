"""The JSON Schemas under manifests/: of what a run reads and of every JSON file that it leaves.

`python -m evaluator.report.schemas FOLDER` writes them; a test fails when a stored file and the code differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import orjson

from evaluator.manifest.schemas import Schema, case_schema, score_schema, written
from evaluator.report.aggregate import Summary
from evaluator.runner.header import RunHeader


def run_schema() -> Schema:
    """run.json. A merge has `parts`, and null for what several processes have not together."""
    tree = written(RunHeader, "evaluator run header")
    rules = tree["properties"]
    rules["telemetry"] = {"anyOf": [rules["telemetry"], {"type": "null"}]}
    rules["parts"] = {"description": "Of a merge: what each part was.", "type": "array", "items": {"type": "object"}}
    return tree


def summary_schema() -> Schema:
    """summary.json."""
    return written(Summary, "evaluator summary")


SCHEMAS: Mapping[str, Callable[[], Schema]] = {
    "case.schema.json": case_schema,
    "score.schema.json": score_schema,
    "run.schema.json": run_schema,
    "summary.schema.json": summary_schema,
}
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
