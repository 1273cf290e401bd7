"""Repeated runs, agreement with people, and the reference's CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from evaluator.schema import Reason, Score, Status
from evaluator.suites.ave_compass import agreement, export_csv
from evaluator.suites.ave_compass.stability import stability
from tests.suites.ave_compass.judging import case, score

CASES = [case(None, name, category="speech") for name in ("a", "b")]


def run(*values: float, metric: str = "editing_intent") -> list[Score]:
    return [score(one, metric, value) for one, value in zip(CASES, values, strict=True)]


def test_stable_means_pass_and_moving_ones_do_not() -> None:
    (still,) = stability([run(0.5, 0.7), run(0.505, 0.71), run(0.5, 0.7)])
    assert still.means == pytest.approx((0.6, 0.6075, 0.6))
    assert still.range == pytest.approx(0.0075)
    assert still.passes
    assert still.deviation == pytest.approx(0.00433, abs=1e-5)
    (moving,) = stability([run(0.5, 0.7), run(0.5, 0.72)])
    assert moving.range == pytest.approx(0.01)
    assert not moving.passes


def test_only_cases_of_all_runs_count() -> None:
    first, second = run(0.5, 0.7), run(0.5, 0.9)[:1]
    (found,) = stability([first, second])
    assert (found.cases, found.range) == (1, 0.0)
    assert stability([]) == []
    (objective,) = stability([run(0.1, 0.2, metric="av_sync")])
    assert objective.objective
    assert objective.deviation is None


def test_items_agree_with_the_majority_of_people() -> None:
    judge = {("a", "Q1"): 1, ("a", "Q2"): 0, ("b", "Q1"): 1, ("b", "Q2"): 1, ("b", "Q3"): 1}
    people = {
        ("a", "Q1"): [1, 1, 0],
        ("a", "Q2"): [0],
        ("b", "Q1"): [0, 0],
        ("b", "Q2"): [1],
        ("b", "Q3"): [1, 0],  # a tie
        ("c", "Q9"): [1],
    }
    equal, kappa = agreement.item_agreement(judge, people)
    assert (equal.value, equal.n) == (0.75, 4)
    assert kappa.value == pytest.approx((0.75 - 0.5) / 0.5)
    assert equal.interval is not None


def test_intents_and_grades() -> None:
    near, rho = agreement.intent_agreement({"a": 0.5, "b": 0.2, "c": 0.9}, {"a": 0.6, "b": 0.4, "c": 0.9})
    assert near.value == pytest.approx(2 / 3)
    assert rho.value == pytest.approx(1.0)
    judge = {("a", "AAS"): 4, ("b", "AAS"): 2, ("c", "AAS"): 1}
    equal, within = agreement.realism_agreement(judge, {("a", "AAS"): [4, 5], ("b", "AAS"): [3], ("c", "AAS"): [4]})
    assert (equal.value, within.value) == (pytest.approx(1 / 3), pytest.approx(2 / 3))


def test_a_report_reads_the_records() -> None:
    told = [{"id": "Q1", "modality": "video", "yes": True}, {"id": "Q2", "modality": "video", "yes": None}]
    scores = [
        score(CASES[0], "instruction_following", 1.0, {"items": told}),
        score(CASES[0], "editing_intent", 0.5),
        score(CASES[0], "realism", 0.5, {"grades": {"AAS": 4, "MTC": None}}),
    ]
    found = agreement.report(scores, {("a", "Q1"): [1], ("a", "Q2"): [1]}, {("a", "AAS"): [4]}, {"a": 0.5})
    values = {figure.name: (figure.value, figure.n) for figure in found}
    assert values["instruction_following: equal answers"] == (1.0, 1)
    assert values["intent within 0.1"] == (1.0, 1)
    assert values["intent: Spearman rho"] == (None, 1)
    assert values["realism: grades equal"] == (1.0, 1)
    assert "fidelity_preserving: equal answers" not in values


def test_kinds_of_evidence_have_figures_of_their_own() -> None:
    """Substitutes say nothing about a judge that hears, and the other way round."""
    told = [
        {"id": "Q1", "modality": "video", "yes": True, "evidence": "native"},
        {"id": "Q2", "modality": "audio", "yes": False, "evidence": "substitute"},
    ]
    answers = {"naturalness": {"evidence": "native"}, "AAS": {"evidence": "substitute"}}
    mixed = {"evidence": "mixed"}
    scores = [
        score(CASES[0], "fidelity_preserving", 0.5, {"items": told, **mixed}),
        score(CASES[0], "editing_intent", 0.5, mixed),
        score(CASES[0], "realism", 0.5, {"grades": {"naturalness": 4, "AAS": 4}, "answers": answers, **mixed}),
    ]
    people = {("a", "Q1"): [1], ("a", "Q2"): [1]}
    grades = {("a", "naturalness"): [4], ("a", "AAS"): [1]}
    values = {one.name: (one.value, one.n) for one in agreement.report(scores, people, grades, {"a": 0.5})}
    assert values["fidelity_preserving: equal answers"] == (1.0, 1)
    assert values["fidelity_preserving: equal answers (substitute evidence)"] == (0.0, 1)
    assert values["realism: grades within one"] == (1.0, 1)
    assert values["realism: grades within one (substitute evidence)"] == (0.0, 1)
    assert values["intent within 0.1 (mixed evidence)"] == (1.0, 1)
    assert "intent within 0.1" not in values


def test_names_in_the_csv_are_those_of_the_published_files() -> None:
    """Spec 1.3 and 8: the id of a sample is its stem, the name of a case its task, else the stem of its source."""
    joined = replace(CASES[0], id="a.e1/s", data={"case_name": "rain", "instruction_id": 0})
    by_hand = replace(CASES[1], id="b")
    first, second = csv.DictReader(io.StringIO(export_csv.text([joined, by_hand], [])))
    assert (first["id"], first["sample_id"], first["case_name"], first["instruction_id"]) == (
        "s/a.e1", "a.e1", "rain", "0"
    )  # fmt: skip
    assert (second["id"], second["sample_id"], second["case_name"], second["instruction_id"]) == ("s/b", "b", "s", "")


def test_the_csv_has_the_columns_and_units_of_the_reference() -> None:
    one = replace(CASES[0], data={"compat_id": "s/a.1", "instruction_id": 7})
    scores = [
        score(one, "av_sync", 0.9),
        score(one, "lip_sync", None, status=Status.FAILED, reason=Reason("expert", "it\nbroke")),
        score(one, "editing_intent", 0.735),
        score(one, "editing_intent_video", 1 / 3),
        score(one, "instruction_following", 0.5, {"unanswered": {"Q3": "error"}}),
        score(one, "realism", None),
    ]
    found = list(csv.DictReader(io.StringIO(export_csv.text([one], scores))))
    (row,) = found
    assert tuple(row) == export_csv.COLUMNS
    assert len(export_csv.COLUMNS) == 9 + 9 + 3 + 12 + 3 + 2
    assert (row["id"], row["sample_id"], row["instruction_id"]) == ("s/a.1", "a", "7")
    assert (row["src_video_name"], row["edited_video_name"], row["category"]) == ("s.mp4", "v.mp4", "speech")
    assert row["active_metrics"].split(";")[:2] == ["lip_sync", "av_sync"]
    assert (row["checklist_score"], row["checklist_raw_score"]) == ("0.735", "73.5")  # spec 12.3
    assert (row["editing_intent_video"], row["realism_overall"]) == ("33.33", "")
    assert (row["checklist_success"], row["realism_success"]) == ("True", "False")
    assert row["warnings"] == "lip_sync: expert: it broke | instruction_following: no answer to Q3"
