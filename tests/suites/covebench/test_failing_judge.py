"""A judge that fails on every third question raises no score: neither of a task nor in a table."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from evaluator.judge.types import JudgeError, Question, Raw, Status
from evaluator.schema import Case, Score
from evaluator.suites.board import Board
from evaluator.suites.covebench.boards import boards
from tests.suites.covebench.judging import (
    RIGHT,
    case_of,
    execution,
    group,
    judged,
    kept,
    physics,
    saying,
)

Reply = Callable[[Question], Raw]

LONELY = [group(physics("Q1"), level1="Style"), group(kept("Q2"))]
TASKS: list[tuple[Case, Mapping[str, Any]]] = [
    (case_of(task=1), {**RIGHT, "Q2": "Yes"}),
    (case_of(task=2), {**RIGHT, "Q4": "No", "Q5": 3}),
    (case_of(LONELY, task=3), {"Q1": "No", "Q2": 2}),  # a task that can lose all that it has
    (case_of([group(execution("Q1", "No")), group(kept("Q2"))], task=4), {"Q1": "Yes", "Q2": 1}),
]


def refused(question: Question) -> Raw:
    return Raw("No.", "refusal")


def garbled(question: Question) -> Raw:
    return Raw("maple", "stop")


def broken(question: Question) -> Raw:
    raise JudgeError(Status.ERROR, "500")


def run(folder: Path, spoilt: Callable[[int], bool], how: Reply, profile: str = "paper") -> list[Score]:
    """All records, with a judge that misbehaves on the questions whose number is spoilt."""
    found: list[Score] = []
    number = itertools.count()
    for case, answers in TASKS:
        good = saying(answers)
        fates: dict[str, bool] = {}

        def reply(question: Question, good: Reply = good, fates: dict[str, bool] = fates) -> Raw:
            return how(question) if fates[question.item] else good(question)

        for entry in [item for one in case.checklist for item in one["questions"]]:
            fates[f"{case.id}/{entry['id']}"] = spoilt(next(number))
        found += judged(case, reply, folder / case.id, profile).values()
    return found


def figures(scores: list[Score]) -> dict[tuple[str, str], float]:
    """(table, column) -> value, of every table of judge scores that has one row."""
    made = {board.id: board for board in boards([case for case, _ in TASKS], scores)}
    return {
        (name, column): value
        for name in ("main", "per_task")
        for column, value in zip(made[name].columns, made[name].rows[0], strict=True)
        if isinstance(value, float)
    } | _wrong(made["judge"])


def _wrong(board: Board) -> dict[tuple[str, str], float]:
    row = next(row for row in board.rows if row[1] == "counted as wrong")
    return {("judge", name): value for name, value in zip(board.columns, row, strict=True) if isinstance(value, float)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[Score]:
    return run(tmp_path_factory.mktemp("whole"), lambda number: False, refused)


@pytest.mark.parametrize("how", [refused, garbled, broken])
@pytest.mark.parametrize("first", [0, 1, 2])
def test_no_score_rises(tmp_path: Path, whole: list[Score], first: int, how: Reply) -> None:
    holes = run(tmp_path, lambda number: number % 3 == first, how)
    lost = 0
    for less, more in zip(holes, whole, strict=True):
        assert less.key == more.key
        if less.value is None:
            lost += 1
        else:
            assert more.value is not None
            assert less.value <= more.value
    assert lost < len(whole)
    ours, theirs = figures(holes), figures(whole)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 12
    assert all(ours[name] <= theirs[name] for name in ours), (ours, theirs)


def test_a_judge_that_fails_on_everything_leaves_the_lowest_figures_and_no_value(
    tmp_path: Path, whole: list[Score]
) -> None:
    holes = run(tmp_path, lambda number: True, refused)
    assert all(score.value is None for score in holes)
    found = figures(holes)
    assert {name: found["judge", name] for name in ("UAS", "IFS", "VRS", "SEM")} == {
        "UAS": 0.0,
        "IFS": 0.0,
        "VRS": 0.0,
        "SEM": 10.0,
    }


def test_the_table_also_shows_what_the_reference_would_say(tmp_path: Path, whole: list[Score]) -> None:
    """Losing the bad tasks raises the reference's figures: the second row of the table says so beside ours."""
    holes = run(tmp_path, lambda number: number >= 12, refused)  # tasks 3 and 4 are lost
    rows = {
        row[1]: dict(zip(board.columns, row, strict=True))
        for board in boards([case for case, _ in TASKS], holes)
        if board.id == "judge"
        for row in board.rows
    }
    before = figures(whole)["judge", "VRS"]
    assert rows["left out"]["VRS"] == 100.0 > before
    assert rows["counted as wrong"]["VRS"] == before
    assert rows["left out"]["unanswered"] == rows["counted as wrong"]["unanswered"] == 4
