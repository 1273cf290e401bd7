"""Files of a run that were cut, changed by hand or written by another version: one line that says which and where."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.runner.clips import clip
from tests.test_cli import CHEAP, Cli, cli, write

__all__ = ["cli"]

ODD: tuple[object, ...] = (None, 7, "x", [], {}, ["x"], [{}])
NAMES = ("run.json", "summary.json", "scores.jsonl")


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest of two cases that share no clip."""
    folder = tmp_path_factory.mktemp("cases")
    for seed, name in enumerate(("one", "two")):
        clip(folder / f"{name}.mp4", seed=seed, frames=8)
    write(folder / "m.jsonl", [{"id": name, "suite": "core", "video": f"{name}.mp4"} for name in ("one", "two")])
    return folder / "m.jsonl"


def parts(cli: Cli, cases: Path, folder: Path) -> list[Path]:
    """Both shards of it, in a folder: a copy of those that were scored once."""
    made = [cases.parent / f"part{index}" for index in (1, 2)]
    for index, part in enumerate(made, 1):
        command = ("--manifest", cases, "--out", part, "--metrics", CHEAP, "--shard", f"{index}/2", "--no-report")
        assert part.exists() or cli(*command).code == 0
    return [copy(part, folder / part.name) for part in made]


def change(path: Path, place: tuple[str | int, ...], value: object, drop: bool = False) -> None:
    """Another value at a place of a JSON file, or of the first line of one of lines."""
    first, *rest = path.read_text().split("\n") if path.suffix == ".jsonl" else (path.read_text(),)
    tree = json.loads(first)
    inner = tree
    for step in place[:-1]:
        inner = inner[step]
    if drop:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    path.write_text("\n".join([json.dumps(tree), *rest]))


def places(tree: Any, depth: int = 3) -> Iterator[tuple[str | int, ...]]:
    """Every field, and those of the first of a list."""
    inside = tree.items() if isinstance(tree, dict) else enumerate(tree[:1]) if isinstance(tree, list) else ()
    for name, value in inside:
        yield (name,)
        yield from ((name, *below) for below in places(value, depth - 1) if depth > 1)


def copy(part: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(part, target))


@pytest.mark.parametrize(
    ("place", "value", "says"),
    [
        (("options",), None, "options: expected an object, found null"),
        (("options", "limit"), "x", 'options.limit: expected an integer, found "x"'),
        (("metrics",), "x", 'metrics: expected a list, found "x"'),
        (("metrics", 0, "direction"), "up", "metrics[0].direction: expected 'higher', 'lower' or 'none'"),
        (("manifest", "sha256"), 7, "manifest.sha256: expected text, found the number 7"),
        (("ended",), None, "ended: expected a time, found null"),
        (("started",), "soon", "started: expected"),
        (("status",), "fine", "status: expected"),
    ],
)
def test_a_field_of_another_kind_is_named_with_its_file_and_what_to_do(
    cli: Cli, cases: Path, tmp_path: Path, place: tuple[str | int, ...], value: object, says: str
) -> None:
    first, second = parts(cli, cases, tmp_path)
    change(first / "run.json", place, value)
    told = cli("merge", "--manifest", cases, "--out", tmp_path / "all", first, second)
    assert told.code == 2
    assert told.err.startswith(f"error: {first / 'run.json'}: {says}")
    assert "run again into that folder" in told.err
    assert told.err.count("\n") == 1
    assert not (tmp_path / "all").exists()


def test_whatever_is_missing_or_of_another_kind_ends_with_a_sentence(cli: Cli, cases: Path, tmp_path: Path) -> None:
    """Each field of each file is dropped, and made something else; each command that reads it copes."""
    first, second = parts(cli, cases, tmp_path)
    other, made, changed = copy(second, tmp_path / "other"), tmp_path / "all", tmp_path / "changed"
    merged = ("merge", "--manifest", cases, "--out", made, "-q", changed, second)
    reads = {"run.json": (merged, ("history", changed, other), ("compare", changed, changed)),
             "summary.json": (("history", changed, other),),
             "scores.jsonl": (("compare", changed, changed),)}  # fmt: skip
    for name, commands in reads.items():
        text = (first / name).read_text()
        tree = json.loads(text.split("\n")[0] if name.endswith("l") else text)
        for number, place in enumerate(places(tree)):
            copy(first, changed)
            change(changed / name, place, ODD[number % len(ODD)], drop=number % 2 == 0)
            for command in commands:
                told = cli(*command)
                assert told.code in {0, 2, 3}, (name, place, told.err[-500:])
                assert "Traceback" not in told.err


def test_a_run_of_an_older_version_serves_whoever_does_not_need_what_it_lacks(
    cli: Cli, cases: Path, tmp_path: Path
) -> None:
    first, second = parts(cli, cases, tmp_path)
    change(first / "run.json", ("suites",), None, drop=True)
    assert cli("history", first, second).code == 0
    told = cli("merge", "--manifest", cases, "--out", tmp_path / "all", first, second)
    assert told.code == 2
    assert f"{first / 'run.json'}: suites: expected a value, found nothing" in told.err


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "data", [b"", b"null\n", b"\xff\n", b"[" * 2000, b'{"schema":1,"x":' + b"[" * 400 + b"]" * 400]
)
def test_what_is_not_json_or_nested_without_end_is_refused(
    cli: Cli, cases: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    first, second = parts(cli, cases, tmp_path)
    (first / name).write_bytes(data + b"}\n" if b"schema" in data else data)
    for command in (("report", first), ("history", first), ("compare", first, first)):
        assert cli(*command).code in {0, 2, 3}
    assert cli("merge", "--manifest", cases, "--out", tmp_path / "all", "-q", first, second).code in {0, 2, 3}


def test_a_record_that_says_another_suite_than_its_case_is_refused(cli: Cli, cases: Path, tmp_path: Path) -> None:
    first, second = parts(cli, cases, tmp_path)
    change(first / "scores.jsonl", ("suite",), "sports")
    told = cli("merge", "--manifest", cases, "--out", tmp_path / "all", first, second)
    assert told.code == 2
    assert "suite: expected 'core', found 'sports'" in told.err


def test_folders_whose_names_are_no_text_are_merged_compared_and_listed(cli: Cli, cases: Path, tmp_path: Path) -> None:
    strange = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n"))
    strange.mkdir()
    first, second = parts(cli, cases, strange)
    assert cli("merge", "--manifest", cases, "--out", strange / "all", "-q", first, second).code == 0
    for command in (("compare", strange / "all", first, "--json"), ("history", first, second, "--json")):
        assert cli(*command).code == 0
    told = json.loads((strange / "all" / "run.json").read_text())
    assert told["parts"][0]["folder"].endswith("/\\xff\n/part1")
