"""The worked example, and one run from the published layout to the printed tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.suites.covebench.layout import read_tasks
from tests.conftest import ROOT
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.suites.covebench.judging import GROUPS
from tests.test_cli import Cli, cli, records  # noqa: F401  (fixture)

FOLDER = ROOT / "manifests"
LINES = [json.loads(line) for line in (FOLDER / "covebench.example.jsonl").read_text().splitlines()]


def test_the_example_holds_every_type_of_question_and_both_ways_of_editing() -> None:
    questions = [one for line in LINES for group in line["checklist"] for one in group["questions"]]
    assert {one["type"] for one in questions} == {"Single-TF", "Dual-TF", "AB-MCQ", "Score-MCQ"}
    assert {line["data"].get("sequential_of", "") for line in LINES} == {"", "one-pass"}


def test_the_example_is_what_its_checklist_says() -> None:
    tasks = read_tasks(FOLDER / "covebench" / "checklist.json")
    for line in LINES:
        task = tasks[line["data"]["task"]]
        assert line["checklist"] == task["evaluation_groups"]
        assert line["prompt"] == task["editing_instruction"]
        assert line["source"] == f"demo/{task['videoA_path']}"


def test_the_example_is_a_manifest(cli: Cli) -> None:  # noqa: F811
    if not (FOLDER / "demo" / "stamp.json").exists():
        pytest.skip("the demo clips are not prepared (./run.sh setup)")
    told = cli("--manifest", FOLDER / "covebench.example.jsonl", "--dry-run", "--metrics", "uas,ssim")
    assert told.code == 0, told.err


def test_from_the_published_layout_to_tables(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    for folder in ("data", "ours"):
        (tmp_path / folder).mkdir()
        for number in (44, 9001):  # 44 is on the exclusion list of SSIM
            clip(tmp_path / folder / f"{number}.mp4", frames=12, seed=number + len(folder), sound=False)
    tasks = [
        {"id": number, "editing_instruction": "Edit.", "evaluation_groups": GROUPS, "videoA_path": f"data/{number}.mp4"}
        for number in (44, 9001)
    ]
    (tmp_path / "checklist.json").write_text(json.dumps(tasks))
    made = cli("manifest", "covebench", tmp_path, "--system", "ours")
    assert made.code == 0, made.err
    with running(Behaviour()) as url:
        told = cli(
            "--manifest", tmp_path / "ours.jsonl", "--out", tmp_path / "out", "--judge-url", url,
            "--metrics", "uas,ifs,vrs,sem,uas_task,ssim",
        )  # fmt: skip
    assert told.code == 0, told.err
    found = {(one["case"], one["metric"]): one for one in records(tmp_path / "out")}
    assert found["44/ours", "ssim"]["reason"]["code"] == "filtered"  # type: ignore[index]
    assert found["9001/ours", "ssim"]["status"] == "ok"
    assert found["44/ours", "uas"]["details"]["output_frames"] == 12  # type: ignore[index]
    assert "CoVEBench: compliance, quality, fidelity" in told.err
    boards = json.loads((tmp_path / "out" / "summary.json").read_text())["sections"]["covebench"]
    by_id = {board["id"]: board for board in boards}
    assert {
        "main",
        "judge",
        "per_task",
        "difficulty",
        "categories",
        "radar",
        "errors",
        "scalability",
        "coverage",
    } <= set(by_id)
    assert by_id["main"]["rows"][0][:2] == ["ours", 2]
    calls = (tmp_path / "out" / "judge.jsonl").read_text().count('"task":"cove_')
    assert calls == 2 * 6
