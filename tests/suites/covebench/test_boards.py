"""The tables of a run: what they pool, what they keep apart, what they leave empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.schema import Case, ModelRef, Reason, Score, Status, Tier
from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench import joint_sequential, radar, scalability
from evaluator.suites.covebench.boards import boards
from evaluator.suites.covebench.questions import groups_of, items_of
from evaluator.suites.covebench.sheets import Sheet, sheets
from evaluator.suites.covebench.tally import Share
from tests.suites.covebench.judging import GROUPS, RIGHT, case_of, execution, group, judged, kept, physics, saying

LK = ModelRef("lk_tracks", "ab" * 32, Tier.EMBEDDED, "CoTracker3")
COTRACKER = ModelRef("cotracker3", "cd" * 32, Tier.REFERENCE)


def record(case: Case, metric: str, value: float | None, model: ModelRef | None = None, reason: str = "") -> Score:
    why = Reason(reason, "why") if reason else None
    status = Status.OK if value is not None else Status.SKIPPED
    models = (model,) if model else ()
    return Score(case.id, "covebench", case.system, metric, value, status, why, None, {}, models, "paper", "")


def sheet(scores: Mapping[str, float | None], case: Case | None = None, **facts: Any) -> Sheet:
    case = case or case_of()
    given: dict[str, float | None] = {item.id: 1.0 for item in items_of(groups_of(case))}
    return Sheet(case, groups_of(case), {**given, **scores}, **facts)


def table(found: Sequence[Board], name: str) -> list[dict[str, Cell]]:
    board = next(board for board in found if board.id == name)
    return [dict(zip(board.columns, row, strict=True)) for row in board.rows]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Case], list[Score]]:
    folder = tmp_path_factory.mktemp("run")
    cases, scores = [], []
    said = {
        "good": [RIGHT, {**RIGHT, "Q4": "No", "Q6": 4}],
        "bad": [{**RIGHT, "Q2": "Yes", "Q4": "No"}, {**RIGHT, "Q3": "No"}],
    }
    for system, tasks in said.items():
        for task, answers in enumerate(tasks, 1):
            case = case_of(GROUPS, task, system, "Turn it round, please.", labels={"answers": RIGHT})
            cases.append(case)
            scores += judged(case, saying(answers), folder / system / str(task)).values()
    return cases, scores


class TestRun:
    """Two systems, two tasks."""

    def test_questions_and_edits_of_all_tasks_are_pooled(self, run: tuple[list[Case], list[Score]]) -> None:
        rows = table(boards(*run), "main")
        assert [row["system"] for row in rows] == ["good", "bad"]
        good, bad = rows
        assert (good["UAS"], good["IFS"], good["VRS"], good["SEM"]) == (75.0, pytest.approx(500 / 6), 100.0, 80.0)
        assert (bad["UAS"], bad["VRS"]) == (25.0, 50.0)
        assert good["tasks"] == 2

    def test_the_means_over_tasks_have_a_table_of_their_own(self, run: tuple[list[Case], list[Score]]) -> None:
        good = table(boards(*run), "per_task")[0]
        assert (good["UAS"], good["SEM (1..10)"]) == (50.0, pytest.approx(8.0))

    def test_difficulty(self, run: tuple[list[Case], list[Score]]) -> None:
        rows = {(row["system"], row["difficulty"]): row for row in table(boards(*run), "difficulty")}
        assert list(rows)[:3] == [("good", "Simple"), ("good", "Hard"), ("good", "(none)")]
        assert (rows["good", "Hard"]["IFS"], rows["good", "Hard"]["n"]) == (50.0, 2)
        assert rows["good", "Hard"]["SEM"] is None
        assert rows["good", "Simple"]["SEM"] == 90.0

    def test_categories_and_radar(self, run: tuple[list[Case], list[Score]]) -> None:
        made = boards(*run)
        raw = {(row["level"], row["category"]): row for row in table(made, "categories")}
        assert list(raw) == [
            ("Level 1", "Background"),
            ("Level 1", "Subject"),
            ("Level 2", "Removal"),
            ("Level 2", "Weather"),
        ]
        assert (raw["Level 1", "Subject"]["good"], raw["Level 1", "Subject"]["bad"]) == (100.0, 0.0)
        assert (raw["Level 1", "Background"]["good"], raw["Level 1", "Background"]["bad"]) == (50.0, 50.0)
        assert table(made, "radar") == [
            {"category": "Background", "good": 0.5, "bad": 0.5},
            {"category": "Subject", "good": 1.0, "bad": 0.0},
        ]

    def test_errors(self, run: tuple[list[Case], list[Score]]) -> None:
        good, bad = table(boards(*run), "errors")
        assert (good["execution inadequacy"], good["edits"]) == (1, 4)
        assert (bad["execution inadequacy"], bad["edits"]) == (2, 4)
        assert (good["spatial entanglement"], good["things to keep"]) == (1, 4)
        assert good["physics issues"] is None

    def test_agreement_with_the_answers_of_people(self, run: tuple[list[Case], list[Score]]) -> None:
        rows = {row["type"]: row for row in table(boards(*run), "answers")}
        assert (rows["Dual-TF"]["questions"], rows["Dual-TF"]["equal"]) == (4, 0.5)
        assert (rows["AB-MCQ"]["equal"], rows["AB-MCQ"]["Cohen kappa"]) == (1.0, None)  # nobody is ever wrong
        assert rows["Score-MCQ"]["mean distance of grades"] == pytest.approx(6 / 8)

    def test_the_order_of_records_does_not_matter_to_figures(self, run: tuple[list[Case], list[Score]]) -> None:
        cases, scores = run
        mixed = sorted(scores, key=lambda score: score.metric)
        for name in ("main", "categories", "errors", "scalability"):
            ours, theirs = table(boards(cases, scores), name), table(boards(cases, mixed), name)
            assert sorted(map(str, ours)) == sorted(map(str, theirs))

    def test_a_run_of_uas_alone_fills_its_columns_only(self, run: tuple[list[Case], list[Score]]) -> None:
        cases, scores = run
        row = table(boards(cases, [score for score in scores if score.metric == "uas"]), "main")[0]
        assert (row["UAS"], row["IFS"]) == (75.0, pytest.approx(500 / 6))
        assert row["SEM"] is None


class TestMain:
    def test_stand_ins_have_a_column_of_their_own_and_a_note(self) -> None:
        one, two = case_of(task=1), case_of(task=2)
        scores = [record(one, "mf", 0.5, LK), record(two, "mf", 0.9, COTRACKER), record(one, "aes", 5.0)]
        board = boards([one, two], scores)[0]
        assert board.columns == ("system", "tasks", "AES", "MF", "MF*")
        assert board.rows == (("model", 2, 5.0, 0.9, 0.5),)
        assert "MF* lk_tracks stands in for CoTracker3" in board.notes

    def test_a_judge_that_is_none_has_rows_of_its_own(self, tmp_path: Path) -> None:
        cases = [case_of(task=1), case_of(task=2)]
        scores = [*judged(cases[0], saying(RIGHT), tmp_path / "1").values()]
        fixture = ModelRef("tiny", "00" * 32, Tier.EMBEDDED, "a trained judge")
        scores += [
            replace(one, models=(fixture,))
            for one in judged(cases[1], saying({**RIGHT, "Q4": "No"}), tmp_path / "2").values()
        ]
        made = boards(cases, scores)
        rows = table(made, "main")
        assert [(row["system"], row["UAS"]) for row in rows] == [("model", 100.0), ("model *", 50.0)]
        assert "* the answers stand in for those of a trained judge" in made[0].notes

    def test_without_a_judge_there_are_no_judge_tables(self) -> None:
        case = case_of()
        scores = [record(case, "ssim", 0.8), record(case, "uas", None, reason="no_judge")]
        made = boards([case], scores)
        assert [board.id for board in made] == ["main", "coverage"]
        assert made[0].columns == ("system", "tasks", "SSIM")

    def test_coverage_counts_what_exclusion_lists_took_out(self) -> None:
        cases = [case_of(task=task) for task in (1, 2, 3)]
        scores = [
            record(cases[0], "ssim", None, reason="filtered"),
            record(cases[1], "ssim", 0.5),
            record(cases[2], "ssim", None, reason="not_applicable"),
        ]
        row = table(boards(cases, scores), "coverage")[0]
        assert (row["scored"], row["excluded"], row["skipped"], row["failed"]) == (1, 1, 1, 0)
        assert table(boards(cases, scores), "main")[0]["SSIM"] == 0.5


class TestSheets:
    def test_a_failed_judge_leaves_its_questions_unanswered_and_a_broken_clip_leaves_none(self) -> None:
        case = case_of()
        base = record(case, "ifs", None, reason="x")
        lost = replace(base, status=Status.FAILED, reason=Reason("unanswered", ""))
        assert sheets([case], [lost])["model", ""][0].scores == {"Q1": None, "Q2": None, "Q4": None}
        assert sheets([case], [replace(lost, reason=Reason("incomplete", ""))]) == {}
        assert sheets([case], [replace(base, reason=Reason("no_judge", ""))]) == {}


class TestRadar:
    def test_an_edit_counts_once_per_label_on_every_level(self) -> None:
        entry = {"Question IDs": ["Q1"], "Level 1": "Style", "Level 2": "Art", "Level 3": "x"}
        other = {"Question IDs": ["Q2"], "Level 1": "Style", "Level 2": "Light", "Level 3": ""}
        tree = {**group(execution("Q1"), execution("Q2")), "category": [entry, other]}
        one = sheet({"Q1": 1.0, "Q2": 0.0}, case_of([tree]))
        assert radar.category_union([one], 1, "wrong") == {"Style": Share(0.0, 1, 0)}
        assert set(radar.category_union([one], 2, "wrong")) == {"Art", "Light"}
        assert set(radar.category_union([one], 3, "wrong")) == {"x"}

    def test_by_questions_narrows_the_union_to_those_that_the_category_names(self) -> None:
        entry = {"Question IDs": ["Q1"], "Level 1": "Style", "Level 2": "Art", "Level 3": "x"}
        other = {"Question IDs": ["Q2"], "Level 1": "Style", "Level 2": "Light", "Level 3": ""}
        tree = {**group(execution("Q1"), execution("Q2"), physics("Q3")), "category": [entry, other]}
        one = sheet({"Q1": 1.0, "Q2": 0.0, "Q3": 0.0}, case_of([tree]))
        by_question = radar.category_union([one], 2, "wrong", by="questions")
        assert {name: share.value for name, share in by_question.items()} == {"Art": 100.0, "Light": 0.0}
        assert radar.category_union([one], 2, "wrong")["Art"].value == 0.0

    def test_min_max(self) -> None:
        found = radar.normalised({("a", ""): 20.0, ("b", ""): 60.0, ("c", ""): 30.0, ("d", ""): None})
        assert list(found.values()) == [0.0, 1.0, 0.25, None]
        assert list(radar.normalised({("a", ""): 7.0, ("b", ""): 7.0}).values()) == [0.5, 0.5]
        assert radar.normalised({("a", ""): None}) == {("a", ""): None}


class TestScalability:
    def test_every_task_is_in_one_bin_of_every_axis(self) -> None:
        long = case_of([group(execution("Q1")), group(execution("Q2")), group(kept("Q3"))], prompt="word " * 25)
        members = [
            sheet({}, long, frames=49, seconds=1.99),
            sheet({}, long, frames=50, seconds=2.0),
            sheet({}, long),
            sheet({}, long, frames=5000, seconds=900.0),
        ]
        bins = {
            axis: {name: len(own) for name, own in scalability.binned(members, axis).items()}
            for axis in scalability.AXES
        }
        assert bins["edits"] == {"2": 4}
        assert bins["output frames"] == {"0 to below 50": 1, "50 to below 82": 1, "242 and more": 1, "unknown": 1}
        assert bins["source seconds"] == {"0 to below 2": 1, "2 to below 4": 1, "15 and more": 1, "unknown": 1}
        assert bins["instruction words"] == {"20 to below 30": 4}

    def test_many_edits_are_one_bin(self) -> None:
        many = [group(execution(f"Q{number}")) for number in range(1, 8)]
        assert list(scalability.binned([sheet({}, case_of(many))], "edits")) == ["5 and more"]

    def test_scores_of_a_bin(self) -> None:
        found = {("model", ""): [sheet({"Q4": 0.0}, seconds=1.0), sheet({}, seconds=9.0)]}
        rows = table([scalability.board(found, "wrong")], "scalability")
        by_bin = {row["bin"]: row for row in rows if row["axis"] == "source seconds"}
        assert (by_bin["0 to below 2"]["UAS"], by_bin["8 to below 10"]["UAS"]) == (50.0, 100.0)


class TestJointAndSequential:
    def pair(self, task: int, joint: Mapping[str, float], sequential: Mapping[str, float]) -> tuple[Sheet, Sheet]:
        later = case_of(task=task, system="steps", data={"sequential_of": "model"})
        return sheet(joint, case_of(task=task)), sheet(sequential, later)

    def test_only_tasks_of_both_are_compared(self) -> None:
        ones, twos = zip(*(self.pair(task, {}, {"Q4": 0.0}) for task in (1, 2, 3)), strict=True)
        extra = sheet({"Q1": 0.0, "Q4": 0.0}, case_of(task=4))
        board = joint_sequential.board({("model", ""): [*ones, extra], ("steps", ""): list(twos)}, "wrong")
        assert board is not None
        row = table([board], "joint_sequential")[0]
        assert (row["joint"], row["sequential"], row["score"], row["tasks"]) == ("model", "steps", "UAS", 3)
        assert (row["joint score"], row["sequential score"], row["difference"]) == (100.0, 50.0, 50.0)
        assert row["95 %"] == "[+50.00, +50.00]"  # the same difference in every source clip

    def test_a_system_is_no_better_than_itself(self) -> None:
        ones = [sheet({"Q4": float(task % 2)}, case_of(task=task)) for task in range(1, 6)]
        for contrast in joint_sequential.contrasts(ones, ones, "wrong"):
            assert contrast.difference == 0.0
            assert contrast.interval == (0.0, 0.0)

    def test_sides_turned_round_turn_the_sign(self) -> None:
        pairs = [self.pair(task, {"Q4": float(task > 1)}, {"Q1": float(task > 2)}) for task in range(1, 6)]
        ones, twos = [one for one, _ in pairs], [two for _, two in pairs]
        for there, back in zip(
            joint_sequential.contrasts(ones, twos, "wrong"),
            joint_sequential.contrasts(twos, ones, "wrong"),
            strict=True,
        ):
            assert there.difference == pytest.approx(-(back.difference or 0.0))

    def test_tasks_of_one_source_are_one_cluster(self) -> None:
        source = Path("/clips/shared.mp4")
        ones = [sheet({}, case_of(task=task, source=source)) for task in (1, 2, 3)]
        twos = [sheet({"Q4": float(task > 1)}, case_of(task=task, source=source)) for task in (1, 2, 3)]
        assert joint_sequential.contrasts(ones, twos, "wrong")[0].interval is None

    def test_without_such_a_system_there_is_no_table(self) -> None:
        assert joint_sequential.board({("model", ""): [sheet({})]}, "wrong") is None
        lonely = case_of(data={"sequential_of": "nobody"})
        assert joint_sequential.board({("steps", ""): [sheet({}, lonely)]}, "wrong") is None
