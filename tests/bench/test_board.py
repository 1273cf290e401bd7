"""Targets, comparison of two boards, and the text that people read."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from evaluator.bench import render
from evaluator.bench.against import losses, read_board
from evaluator.bench.board import NEEDS_GPU, SCHEMA, TARGETS, Better, Board, passed
from evaluator.errors import UsageError

MACHINE = {"processor": "p", "cores": 2, "memory": 8e9, "peak": 100.0, "load": 0.0}


def board(**figures: float) -> dict[str, object]:
    made = Board(facts={"machine": MACHINE, "loaded": False})
    for name, value in figures.items():
        made.put(name, value)
    return made.tree()


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.id)
def test_the_target_itself_passes_and_the_wrong_side_does_not(target) -> None:  # type: ignore[no-untyped-def]
    assert passed(target, target.limit)
    assert not passed(target, target.limit + (-0.1 if target.better is Better.HIGHER else 0.1))


def test_what_was_not_measured_has_no_figure_and_says_why() -> None:
    rows = {row["id"]: row for row in board(S1=1.5)["figures"]}  # type: ignore[union-attr]
    assert (rows["S1"]["value"], rows["S1"]["passed"]) == (1.5, True)
    assert (rows["G1"]["value"], rows["G1"]["passed"], rows["G1"]["note"]) == (None, None, NEEDS_GPU)
    assert rows["S9"]["note"] == "not measured in this run"


@pytest.mark.parametrize(
    ("name", "old", "new", "lost"),
    [
        ("S1", 2.0, 2.4, False),  # within a quarter
        ("S1", 2.0, 2.6, True),
        ("S1", 2.0, 1.0, False),  # better
        ("S3", 0.9, 0.8, False),
        ("S3", 0.9, 0.6, True),
        ("S7", 0.001, 0.01, False),  # twice, and still within the slack
        ("S7", 0.001, 0.05, True),
        ("S2", 1.0, 2.0, True),
        ("S10", 1.0, 0.0, True),
        ("S6", 1.0, 9.0, False),  # an absolute time
    ],
)
def test_only_clear_losses_of_ratios_count(name: str, old: float, new: float, lost: bool) -> None:
    assert bool(losses(board(**{name: old}), board(**{name: new}))) == lost


def test_a_figure_that_one_side_lacks_is_no_loss() -> None:
    assert losses(board(S1=1.0), board(S3=0.1)) == []


def test_a_file_that_is_no_board_is_refused(tmp_path: Path) -> None:
    for name, content in (("a", b"{"), ("b", b"[]"), ("c", orjson.dumps({"schema": SCHEMA + 1})), ("d", b"{}")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UsageError, match=name):
            read_board(tmp_path / name)


def test_a_board_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "bench.json").write_bytes(orjson.dumps(board(S1=1.5)))
    assert read_board(tmp_path / "bench.json") == board(S1=1.5)


def test_text_and_table_show_every_target_with_its_verdict() -> None:
    found = board(S1=1.5, S3=0.5)
    for shown in (render.text(found), render.markdown(found)):
        assert all(target.what in shown for target in TARGETS)
    lines = {line.split()[0]: line for line in render.text(found).splitlines() if line.startswith("S")}
    assert "pass" in lines["S1"]
    assert "MISS" in lines["S3"]


def test_bars_are_as_long_as_their_share() -> None:
    found = {**board(), "core": {"total": 4.0}, "stages": {"decode": 3.0, "probe": 1.0, "collect": 0.0}}
    bars = [line.count("█") for line in render.text(found).splitlines() if "█" in line]
    assert bars == [30, 10]
