"""The JSON Schemas under manifests/ are those of the code, and say what the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli import command
from evaluator.manifest.schemas import case_schema, score_schema
from evaluator.report.aggregate import aggregate, write_summary
from evaluator.report.schemas import SCHEMAS, run_schema, summary_schema, text, write
from evaluator.schema import ModelRef, Reason, Score, Status, Tier, decode_score, encode
from evaluator.suites.board import Board
from tests.runner.clips import clip

MANIFESTS = Path(__file__).resolve().parent.parent / "manifests"


def accepts(schema: dict[str, Any], value: Any, root: dict[str, Any] | None = None) -> bool:
    """A validator for the few keywords that our schemas use; a keyword that it does not know is an error."""
    root = schema if root is None else root
    silent = {"$schema", "$defs", "title", "description", "default", "then", "format"}
    return all(_holds(key, schema, value, root) for key in schema if key not in silent)


def _holds(key: str, schema: dict[str, Any], value: Any, root: dict[str, Any]) -> bool:
    rule = schema[key]
    kinds = {"string": str, "object": dict, "array": list, "number": (int, float), "integer": int, "null": type(None)}
    match key:
        case "$ref":
            return accepts(root["$defs"][rule.removeprefix("#/$defs/")], value, root)
        case "type":
            return isinstance(value, kinds[rule]) and not isinstance(value, bool)
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
            others = (
                []
                if not isinstance(value, dict)
                else [value[name] for name in value.keys() - schema.get("properties", {})]
            )
            return all(accepts(rule, item, root) if isinstance(rule, dict) else rule for item in others)
        case "prefixItems":
            return not isinstance(value, list) or all(
                accepts(one, item, root) for one, item in zip(rule, value, strict=False)
            )
        case "minItems":
            return not isinstance(value, list) or len(value) >= rule
        case "maxItems":
            return not isinstance(value, list) or len(value) <= rule
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
    assert (MANIFESTS / name).read_bytes() == fresh, f"run: python -m evaluator.report.schemas {MANIFESTS}"


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
    record(Status.FAILED, None, Reason("incomplete", "The file ends early.")),
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


def tree_of(path: Path) -> dict[str, Any]:
    tree: dict[str, Any] = json.loads(path.read_bytes())
    return tree


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """A run with a value, a skip and a failure; its two shards, and their merge."""
    folder = tmp_path_factory.mktemp("runs")
    clip(folder / "whole.mp4")
    clip(folder / "mute.mp4", sound=False)
    (folder / "broken.mp4").write_bytes(b"no film at all" * 99)
    cases = [{"id": name, "suite": "core", "video": f"{name}.mp4"} for name in ("whole", "mute", "broken")]
    (folder / "m.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    outs = {name: folder / name for name in ("all", "first", "second", "merged")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVALUATOR_CACHE", str(folder / "cache"))
        common = ["--manifest", str(folder / "m.jsonl"), "--metrics", "loudness,silence,ssim"]
        for name, more in (("all", "1/1"), ("first", "1/2"), ("second", "2/2")):
            with pytest.raises(SystemExit):
                command([*common, "--out", str(outs[name]), "--shard", more])
        with pytest.raises(SystemExit):
            command(["merge", *common[:2], "--out", str(outs["merged"]), str(outs["first"]), str(outs["second"])])
        yield outs


@pytest.mark.parametrize("name", ["all", "first", "second", "merged"])
def test_a_run_and_a_merge_follow_the_schemas(runs: dict[str, Path], name: str) -> None:
    header, summary = tree_of(runs[name] / "run.json"), tree_of(runs[name] / "summary.json")
    assert accepts(run_schema(), header)
    assert accepts(summary_schema(), summary)
    assert summary["rows"]
    records = (runs[name] / "scores.jsonl").read_bytes().splitlines()
    assert records
    assert all(accepts(score_schema(), json.loads(line)) for line in records)
    assert (name == "merged") == ("parts" in header)


def test_a_run_that_was_killed_follows_the_schema_too(runs: dict[str, Path]) -> None:
    header = tree_of(runs["all"] / "run.json")
    started = {"status": "started", "ended": None, "counts": {}, "telemetry": {}, "backends": {}}
    assert accepts(run_schema(), {**header, **started})


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"schema": 2},
        {"manifest": {"path": "m.jsonl"}},
        {"metrics": [{"id": "ssim"}]},
        {"models": [{"id": "rife"}]},
        {"telemetry": {"cpu_seconds": {"decode": "1"}}},
        {"telemetry": {"seconds": {}}},
        {"counts": {"ok": 1.5}},
        {"cores": True},
        {"time": 1},
    ],
    ids=str,
)
def test_run_schema_refuses(runs: dict[str, Path], change: dict[str, Any]) -> None:
    assert not accepts(run_schema(), {**tree_of(runs["all"] / "run.json"), **change})


def test_every_key_of_a_run_is_needed(runs: dict[str, Path]) -> None:
    header = tree_of(runs["all"] / "run.json")
    for key in header:
        assert not accepts(run_schema(), {name: item for name, item in header.items() if name != key}), key


def test_tables_of_a_protocol_follow_the_schema_of_a_summary(tmp_path: Path) -> None:
    board = Board("b", "Table 1", ("system", "n", "share", "gap"), (("x", 3, 0.5, None),), ("a note",))
    scores = [decode_score(json.dumps({**tree, "case": str(place)}).encode()) for place, tree in enumerate(GOOD * 4)]
    write_summary(tmp_path, aggregate(scores), {"core": [board]})
    summary = tree_of(tmp_path / "summary.json")
    assert accepts(summary_schema(), summary)
    assert summary["rows"][0]["interval"] is not None
    for wrong in ({"rows": [[{}]]}, {"title": 1}, {"notes": None}):
        assert not accepts(
            summary_schema(), {**summary, "sections": {"core": [{**summary["sections"]["core"][0], **wrong}]}}
        )
    for wrong_row in ({"interval": [0.5]}, {"n": None}, {"failed": {"x": "1"}}):
        assert not accepts(summary_schema(), {**summary, "rows": [{**summary["rows"][0], **wrong_row}]})
