"""The JSON Schemas under manifests/ are those of the code, and say what the code does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from evaluator.manifest.schemas import SCHEMAS, case_schema, score_schema, text, write
from evaluator.schema import ModelRef, Reason, Score, Status, Tier, encode

MANIFESTS = Path(__file__).resolve().parent.parent / "manifests"


def accepts(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None) -> bool:
    """A validator for the few keywords that our schemas use; a keyword that it does not know is an error."""
    root = schema if root is None else root
    silent = {"$schema", "$defs", "title", "description", "default", "then"}
    return all(_holds(key, schema, value, root) for key in schema if key not in silent)


def _holds(key: str, schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    rule = schema[key]
    kinds = {"string": str, "object": dict, "array": list, "number": (int, float), "integer": int, "null": type(None)}
    match key:
        case "$ref":
            return accepts(root["$defs"][rule.removeprefix("#/$defs/")], value, root)
        case "type":
            return isinstance(value, kinds[rule])
        case "const":
            return bool(value == rule)
        case "enum":
            return value in rule
        case "anyOf":
            return any(accepts(option, value, root) for option in rule)
        case "allOf":
            return all(accepts(option, value, root) for option in rule)
        case "if":
            return not accepts(rule, value, root) or accepts(schema["then"], value, root)
        case "required":
            return not isinstance(value, dict) or all(name in value for name in rule)
        case "properties":
            return not isinstance(value, dict) or all(
                accepts(rule[name], item, root) for name, item in value.items() if name in rule
            )
        case "additionalProperties":
            return rule or not isinstance(value, dict) or set(value) <= set(schema["properties"])
        case "items":
            return not isinstance(value, list) or all(accepts(rule, item, root) for item in value)
        case "not":
            return not accepts(rule, value, root)
        case "pattern":
            return not isinstance(value, str) or re.search(rule, value) is not None
        case "minLength":
            return not isinstance(value, str) or len(value) >= rule
        case "maxLength":
            return not isinstance(value, str) or len(value) <= rule
    raise NotImplementedError(key)


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_stored_file_is_what_the_code_generates(name: str) -> None:
    fresh = text(SCHEMAS[name]())
    assert (MANIFESTS / name).read_bytes() == fresh, f"run: python -m evaluator.manifest.schemas {MANIFESTS}"


def test_write_makes_every_file(tmp_path: Path) -> None:
    write(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(SCHEMAS)


@pytest.mark.parametrize("path", sorted(MANIFESTS.glob("*.jsonl")), ids=lambda path: path.name)
def test_manifests_that_we_ship_follow_the_schema(path: Path) -> None:
    for line in path.read_text("utf-8").splitlines():
        assert accepts(case_schema(), json.loads(line))


@pytest.mark.parametrize(
    "change",
    [
        {"vidoe": "x"},
        {"id": ""},
        {"id": "a\n"},
        {"id": 7},
        {"video": None},
        {"checklist": 4},
        {"labels": []},
        {"references": [{"kind": "movie", "path": "x"}]},
        {"references": [{"kind": "image"}]},
    ],
    ids=str,
)
def test_case_schema_refuses(change: dict[str, Any]) -> None:
    case = {"id": "a", "suite": "core", "video": "clip.mp4"}
    assert accepts(case_schema(), case)
    assert not accepts(case_schema(), {**case, **change})


def record(status: Status, value: float | None, reason: Reason | None) -> dict[str, Any]:
    """A score record as a reader of scores.jsonl sees it."""
    model = ModelRef("rife", "0" * 64, Tier.EMBEDDED, "AMT-G")
    line = encode(Score("a", "core", "s", "m", value, status, reason, value, {"n": 2}, (model,), "paper", "f" * 64))
    tree: dict[str, Any] = json.loads(line)
    return tree


GOOD = [
    record(Status.OK, 0.5, None),
    record(Status.SKIPPED, None, Reason("not_applicable", "No sound.")),
    record(Status.FAILED, None, Reason("truncated", "The file ends early.")),
]


@pytest.mark.parametrize("tree", GOOD, ids=lambda tree: str(tree["status"]))
def test_score_schema_takes_what_the_writer_writes(tree: dict[str, Any]) -> None:
    assert accepts(score_schema(), tree)


@pytest.mark.parametrize(
    "change",
    [
        {"value": None},
        {"value": "0.5"},
        {"reason": {"code": "x", "message": "y"}},
        {"status": "done"},
        {"schema": 2},
        {"time": 1},
        {"models": [{"id": "rife"}]},
        {"status": "skipped", "value": None, "reason": {"code": "because", "message": "y"}},
        {"status": "failed", "value": None},
    ],
    ids=str,
)
def test_score_schema_refuses(change: dict[str, Any]) -> None:
    assert not accepts(score_schema(), {**GOOD[0], **change})


@pytest.mark.parametrize("key", sorted(GOOD[0]))
def test_score_schema_misses_every_key(key: str) -> None:
    assert not accepts(score_schema(), {name: item for name, item in GOOD[0].items() if name != key})
