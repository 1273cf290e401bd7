"""The worked example, and one run from the published layout to the printed tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.judge.audit import verify
from evaluator.judge.ledger import read_records
from evaluator.judge.record import Call, Opening
from evaluator.suites.covebench.judged import PROMPTS
from evaluator.suites.covebench.layout import read_tasks
from tests.conftest import ROOT
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.suites.covebench.judging import GROUPS
from tests.suites.covebench.make_ledger import JUDGED, LEDGER, MANIFEST
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


@pytest.fixture
def played(cli: Cli, tmp_path: Path) -> tuple[Path, str]:  # noqa: F811
    """The judged half of the example, and SSIM, from the ledger of the wiring fixture: the folder, what was printed."""
    if not (FOLDER / "demo" / "stamp.json").exists():
        pytest.skip("the demo clips are not prepared (./run.sh setup)")
    chosen = ("--metrics", ",".join((*JUDGED, "ssim")), "--judge-replay", LEDGER)
    told = cli("--manifest", MANIFEST, "--out", tmp_path / "out", *chosen)
    assert told.code == 0, told.err
    if any((one["reason"] or {}).get("code") == "no_judge" for one in records(tmp_path / "out")):  # type: ignore[attr-defined]
        pytest.skip("the demo clips of this machine differ from the ledger's: tests.suites.covebench.make_ledger")
    return tmp_path / "out", told.err


def test_the_ledger_is_small_and_that_of_a_wiring_fixture() -> None:
    lines = list(read_records(LEDGER))
    assert LEDGER.stat().st_size < 100_000
    assert {judge.trained for one in lines if isinstance(one, Opening) for judge in one.judges.values()} == {False}
    calls = [one for one in lines if isinstance(one, Call)]
    assert {one.status for one in calls} == {"ok"}
    assert {one.task for one in calls} == set(PROMPTS.values())  # every type of question
    assert verify(LEDGER, media=False).problem_count == 0


def test_the_example_is_judged_without_a_server_and_says_that_it_means_nothing(played: tuple[Path, str]) -> None:
    out, printed = played
    rows = records(out)
    assert {one["status"] for one in rows} == {"ok"}
    judged = [one for one in rows if one["metric"] in JUDGED]
    assert len(judged) == 5 * len(LINES)
    assert all(one["models"][-1]["stands_in_for"] for one in judged)  # type: ignore[index]
    assert "its answers mean nothing" in printed


def test_the_tables_have_the_papers_layout(played: tuple[Path, str]) -> None:
    """CoVEBench 7: one row per system; compliance, quality, fidelity; what is not there has no column."""
    out, printed = played
    made = json.loads((out / "summary.json").read_text())["sections"]["covebench"]
    table = {board["id"]: board for board in made}
    assert table["main"]["columns"] == ["system", "tasks", "UAS", "IFS", "VRS", "SEM", "SSIM"]
    assert [row[0] for row in table["main"]["rows"]] == ["one-pass *", "step-by-step *"]
    order = [board["id"] for board in made]
    assert order == [
        "main", "judge", "per_task", "difficulty", "categories", "radar", "errors", "scalability", "joint_sequential",
        "coverage",
    ]  # fmt: skip
    titles = [board["title"] for board in made]
    places = [printed.index(title) for title in titles]
    assert places == sorted(places)
    for row in table["main"]["rows"]:
        assert all(f"{value:.2f}" in printed for value in row[2:])


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
