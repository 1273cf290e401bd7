"""What a question without an answer counts as: the profile's rule, unless the cases of a manifest say another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.manifest import load
from evaluator.runner.graph import Graph
from evaluator.runner.judging import Bench
from evaluator.runner.plan import Planner
from evaluator.schema import Case, Score
from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.boards import boards
from evaluator.suites.covebench.layout import importer
from tests.judge.fakes import JUDGE
from tests.runner.clips import clip as write_clip
from tests.runner.fakes import World
from tests.suites.covebench.judging import GROUPS, RIGHT, case_of, judged, saying
from tests.test_cli import Cli, cli, write  # noqa: F401  (fixture)

HOLES = {**RIGHT, "Q2": None, "Q6": None}
"""Q2 is one of three execution questions, Q6 one of two grades; the other is 9."""


def records(folder: Path, profile: str, rule: str | None, task: int = 9001) -> tuple[Case, dict[str, Score]]:
    case = case_of(task=task, data={"missing": rule} if rule else {})
    return case, judged(case, saying(HOLES), folder / str(task), profile)


@pytest.mark.parametrize("profile", ["paper", "strict"])
@pytest.mark.parametrize(
    ("rule", "told", "ifs", "uas", "sem"),
    [
        (None, "wrong", 200 / 3, 50.0, 50.0),  # the profile's default
        ("wrong", "wrong", 200 / 3, 50.0, 50.0),
        ("reference", "reference", 100.0, 100.0, 90.0),
    ],
)
def test_a_case_chooses_in_any_profile(
    tmp_path: Path, profile: str, rule: str | None, told: str, ifs: float, uas: float, sem: float
) -> None:
    _, found = records(tmp_path, profile, rule)
    values = {name: found[name].value for name in ("ifs", "uas", "sem")}
    assert values == pytest.approx({"ifs": ifs, "uas": uas, "sem": sem}, rel=1e-6)
    assert {found[name].details["missing"] for name in ("uas", "ifs", "vrs", "sem", "uas_task")} == {told}
    assert found["ifs"].details["answered"] == 2  # whatever is made of it, it is told


@pytest.mark.parametrize(
    ("rule", "ifs", "sem"), [(None, 100.0, None), ("reference", 100.0, None), ("wrong", 100 / 3, None)]
)
def test_compat_may_be_told_to_count_them_too(tmp_path: Path, rule: str | None, ifs: float, sem: float | None) -> None:
    """In batches a reply that lacks one answer counts for none of its type: Q2 takes Q3 along, Q6 takes Q5."""
    answers: dict[str, Any] = {**HOLES, "Q4": "No"} if rule == "wrong" else HOLES
    case = case_of(data={"missing": rule} if rule else {})
    found = judged(case, saying(answers), tmp_path, "compat")
    assert found["ifs"].value == pytest.approx(ifs, rel=1e-6)
    assert found["sem"].value is sem


@pytest.mark.parametrize("rule", [None, "wrong", "reference"])
def test_the_tables_follow_the_cases(tmp_path: Path, rule: str | None) -> None:
    made = [records(tmp_path, "paper", rule, task) for task in (1, 2)]
    scores = [score for _, found in made for score in found.values()]
    table = {board.id: board for board in boards([case for case, _ in made], scores)}
    row = dict(zip(table["main"].columns, table["main"].rows[0], strict=True))
    assert row["IFS"] == pytest.approx(100.0 if rule == "reference" else 200 / 3)
    said = {"reference": "left out"}.get(rule or "", "counted as wrong")
    for name in ("main", "per_task", "difficulty", "errors"):
        assert any(said in note for note in table[name].notes), name
    both = {row[1]: row[table["judge"].columns.index("IFS")] for row in table["judge"].rows}
    assert both == pytest.approx({"counted as wrong": 200 / 3, "left out": 100.0})


def test_it_belongs_to_the_fingerprint() -> None:
    world = World()
    graph = Graph(world.serve, lambda name: world.experts[name])
    planner = Planner(graph, world.model_ref, "paper", 1, Bench(judges={"judge": JUDGE}))
    uas = SUITE.metric("uas")
    media = {"video": "a" * 64, "source": "b" * 64}

    def fingerprint(**data: Any) -> str:
        return planner.job(case_of(data=data), uas, media).fingerprint

    assert len({fingerprint(), fingerprint(missing="wrong"), fingerprint(missing="reference")}) == 3
    assert fingerprint(missing="wrong") == fingerprint(missing="wrong")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("data/7.mp4", "ours/7.mp4"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_clip(tmp_path / name, frames=4, sound=False)
    task = {"id": 7, "editing_instruction": "Edit.", "evaluation_groups": GROUPS, "videoA_path": "data/7.mp4"}
    (tmp_path / "checklist.json").write_text(json.dumps([task]))
    return tmp_path


def test_the_importer_writes_it_into_every_line(root: Path) -> None:
    for rule in ("reference", "wrong"):
        (line,) = importer(root, "ours", {"missing": rule}).lines
        assert line["data"]["missing"] == rule
        (root / "m.jsonl").write_text(json.dumps(line))
        (case,) = load(root / "m.jsonl", suites={"covebench": SUITE.data}, examine={"covebench": SUITE.examine})
        assert case.data["missing"] == rule
    with pytest.raises(UsageError, match="--set missing=zero: expected reference or wrong"):
        importer(root, "ours", {"missing": "zero"})


def test_a_manifest_has_one_rule(cli: Cli, root: Path) -> None:  # noqa: F811
    (line,) = importer(root, "ours", {"missing": "wrong"}).lines
    other = {**line, "id": "7/other", "data": {"task": 7}}
    write(root / "m.jsonl", [dict(line), other])
    told = cli("--manifest", root / "m.jsonl", "--out", root / "out", "--dry-run")
    assert told.code == 2
    assert "data.missing: expected the same in all cases of a manifest, found as the profile says, wrong" in told.err
