"""`evaluator history`: runs in the order of time, numbers that moved, and what changed with them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.report.runs import MODEL, OTHER, Cli, cli, manifest, records, run

__all__ = ["cli"]


def day(number: int) -> str:
    return f"2026-03-{number:02d}T02:00:00+00:00"


@pytest.fixture
def nightly(tmp_path: Path) -> Path:
    """Four nights: nothing new, another model behind lpips, another evaluator and a case more for ssim."""
    folder = tmp_path / "nightly"
    given = manifest(tmp_path / "m.jsonl", [{"id": "a"}])
    base = [*records({"a": 0.5}), *records({"a": 0.2}, "lpips")]
    swapped = [*records({"a": 0.5}), *records({"a": 0.25}, "lpips", models=(OTHER,))]
    last = [*records({"a": 0.5, "b": 0.5}), *records({"a": 0.25}, "lpips", models=(OTHER,))]
    run(folder / "z", base, given, started=day(1))
    run(folder / "y", base, given, started=day(2))
    run(folder / "x", swapped, given, started=day(3), lock_sha256="2" * 64)
    run(folder / "w", last, started=day(4), lock_sha256="2" * 64, evaluator="0.2.0", packages={"numpy": "9"})
    return folder


def series(cli: Cli, *arguments: object) -> dict[str, list[dict[str, object]]]:
    """Metric -> points."""
    answer = cli("history", *arguments, "--json")
    assert answer.code == 0, answer.err
    return {one["metric"]: one["points"] for one in json.loads(answer.out)["series"]}


def test_points_are_in_the_order_of_time(cli: Cli, nightly: Path) -> None:
    points = series(cli, nightly)["lpips"]
    assert [point["started"] for point in points] == [day(1), day(2), day(3), day(4)]
    assert [Path(str(point["run"])).name for point in points] == ["z", "y", "x", "w"]
    assert [point["delta"] for point in points] == [None, 0, 0.05, 0]


def test_what_changed_stands_beside_the_number_that_moved(cli: Cli, nightly: Path) -> None:
    found = series(cli, nightly)
    assert [point["moved"] for point in found["lpips"]] == [False, False, True, False]
    assert found["lpips"][2]["changed"] == [
        ["model.real", "a" * 12, "b" * 12],
        ["lock_sha256", "1" * 12, "2" * 12],
    ]
    assert [point["moved"] for point in found["ssim"]] == [False, False, False, True]
    assert [change[0] for change in found["ssim"][3]["changed"]] == [  # type: ignore[attr-defined]
        "manifest",
        "cases",
        "evaluator",
        "packages.numpy",
    ]


def test_what_a_reader_sees(cli: Cli, nightly: Path) -> None:
    answer = cli("history", nightly)
    assert (answer.code, answer.out) == (0, "")
    lines = [line.split() for line in answer.err.splitlines()]
    assert ["core", "s", "↓", "lpips", "0.200", "0.200", "0.250*", "0.250", "12.83"] in lines
    assert "lpips of s: 0.2500 (+0.0500) in run 3: model.real aaaaaaaaaaaa to bbbbbbbbbbbb, lock_sha256" in answer.err
    few = cli("history", nightly, "--last", "1", "--metrics", "ssim")
    assert "0.200" not in few.err
    assert "ssim of s: 0.5000 (+0.0000) in run 4" in few.err
    assert "lpips" not in few.err


def test_a_move_without_a_cause_says_where_to_look(cli: Cli, tmp_path: Path) -> None:
    run(tmp_path / "a", records({"c": 0.1}), started=day(1))
    run(tmp_path / "b", records({"c": 0.2}), started=day(2), manifest={"path": "m", "sha256": _question(), "cases": 1})
    assert "nothing that run.json records changed; look at the clips" in cli("history", tmp_path).err


def _question() -> str:
    from hashlib import sha256

    return sha256(b"?").hexdigest()


def test_rows_for_a_dashboard(cli: Cli, nightly: Path, tmp_path: Path) -> None:
    assert cli("history", nightly, "--write", tmp_path / "h.csv", "--last", "1").code == 0
    rows = list(csv.DictReader((tmp_path / "h.csv").open()))
    assert len(rows) == 8  # the file holds all runs
    moved = [row for row in rows if row["moved"] == "1"]
    assert [(row["metric"], row["started"]) for row in moved] == [("ssim", day(4)), ("lpips", day(3))]
    assert moved[1]["changed"].startswith("model.real: aaaaaaaaaaaa to bbbbbbbbbbbb; lock_sha256: ")
    assert float(moved[1]["mean"]) == 0.25
    assert rows[0]["lock"] == "1" * 64


def test_scores_of_two_models_in_one_run_stay_two_points(cli: Cli, tmp_path: Path) -> None:
    def mixed(second: float) -> list[object]:
        return [*records({"a": 0.1}, models=(MODEL,)), *records({"b": second}, models=(OTHER,))]

    run(tmp_path / "1", mixed(0.8), started=day(1))  # type: ignore[arg-type]
    run(tmp_path / "2", mixed(0.9), started=day(2))  # type: ignore[arg-type]
    points = series(cli, tmp_path)["ssim"]
    assert [point["delta"] for point in points] == [None, None, 0, 0.1]  # each against the one of its own model
    assert "0.100  / 0.900*" in cli("history", tmp_path).err


def test_an_unfinished_run_has_its_place_and_no_means(cli: Cli, nightly: Path) -> None:
    killed = run(nightly / "v", records({"a": 0.5}), started=day(5), status="started")
    (killed / "summary.json").unlink()
    answer = cli("history", nightly)
    assert answer.code == 0
    assert "started, no summary" in answer.err
    assert len(series(cli, nightly)["ssim"]) == 4


def test_a_run_named_twice_counts_once(cli: Cli, nightly: Path) -> None:
    assert len(series(cli, nightly, nightly / "z")["ssim"]) == 4


def test_folders_without_runs_are_refused(cli: Cli, tmp_path: Path) -> None:
    answer = cli("history", tmp_path)
    assert answer.code == 2
    assert "no run.json there or one level below" in answer.err


@pytest.mark.parametrize(("text", "words"), [("{", "not JSON"), ('{"schema": 9, "rows": []}', "schema 9")])
def test_a_summary_that_cannot_be_read(cli: Cli, tmp_path: Path, text: str, words: str) -> None:
    (run(tmp_path / "a", records({"c": 0.1})) / "summary.json").write_text(text)
    answer = cli("history", tmp_path)
    assert answer.code == 2
    assert words in answer.err
