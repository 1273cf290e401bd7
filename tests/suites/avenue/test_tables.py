"""AVENUE's tables: means per scope and system, marks for stand-ins and partial answers, gaps counted, nothing mixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from evaluator.report.boards import printed
from evaluator.schema import Case, ModelRef, Score, Tier
from evaluator.suites.avenue.boards import boards
from evaluator.suites.avenue.diversity import diversity, self_bleu, tokens_of
from evaluator.suites.board import Board
from tests.suites.avenue.cases import case, record


def made(systems: dict[str, list[float | None]], metric: str = "edit_accuracy", scope: str = "A", **data: Any):
    """Cases and scores of one metric: a list of values per system."""
    cases: list[Case] = []
    scores: list[Score] = []
    for system, values in systems.items():
        for number, value in enumerate(values):
            name = f"{scope}{number}/{system}"
            cases.append(case(scope, name=name, system=system, **data))
            scores.append(record(metric, value, name, system, systems=["x", "y"]))
    return cases, scores


def named(found: tuple[Board, ...], name: str) -> Board:
    return {board.id: board for board in found}[name]


def test_means_with_n_and_gaps_with_reasons() -> None:
    cases, scores = made({"x": [80.0, 60.0], "y": [50.0, None]})
    board = named(boards(cases, scores), "judged_A")
    assert board.columns == ("system", "EA")
    assert board.rows == (("x", "70.0 (2)"), ("y", "50.0 (1)"))
    assert "no value, EA: 1 of 4 (no_judge)" in board.notes
    assert any("cut to the shortest output of: x, y" in note for note in board.notes)
    assert "70.0 (2)" in printed(board)


def test_a_scope_without_records_has_no_table_and_scopes_stay_apart() -> None:
    cases, scores = made({"x": [80.0]}, scope="A")
    more, others = made({"x": [20.0]}, scope="B")
    found = boards([*cases, *more], [*scores, *others])
    assert named(found, "judged_A").rows == (("x", "80.0 (1)"),)
    assert named(found, "judged_B").rows == (("x", "20.0 (1)"),)
    assert "judged_C" not in {board.id for board in found}


def test_stand_ins_and_partial_answers_never_share_a_cell() -> None:
    cases, scores = made({"x": [0.9, 0.5]}, metric="v_clip")
    scores[1] = record("v_clip", 0.5, scores[1].case, "x", stand_in=True)
    assert named(boards(cases, scores), "embedded_A").rows == (("x", "0.900 (1) / 0.500* (1)"),)
    cases, scores = made({"x": [90.0, 40.0]}, metric="modality_selectivity")
    scores[1] = record("modality_selectivity", 40.0, scores[1].case, "x", evidence="partial 5 of 6")
    board = named(boards(cases, scores), "judged_A")
    assert board.rows == (("x", "90.0 (1) / 40.0~ (1)"),)


def test_null_edits_and_triggers_have_tables_of_their_own() -> None:
    cases, scores = made({"x": [76.0]}, metric="modality_selectivity_video", null_edit=True)
    trigger = {"modality": "audio", "description": "a door", "intervals": [[0.0, 1.0]]}
    more, others = made({"x": [24.6]}, metric="cmtg", scope="B", trigger=trigger)
    found = boards([*cases, *more], [*scores, *others])
    assert "judged_A" not in {board.id for board in found}
    assert named(found, "null_edit").rows == (("x", "76.000 (1)"),)
    assert named(found, "cmtg").columns == ("system", "CMTG B")


def test_a_condition_is_a_row_of_its_own_and_the_paradigm_stands_beside_the_system() -> None:
    """A sequential pipeline on the source's own video is another experiment than on edited video (section 2.2)."""
    cases, scores = made({"x": [80.0]}, paradigm="sequential")
    bypassed = case("A", name="A0/x-source", system="x", paradigm="sequential", condition="source_video")
    joint = case("A", name="A0/j", system="j", paradigm="joint")
    more = [record("edit_accuracy", 60.0, bypassed.id, "x"), record("edit_accuracy", 50.0, joint.id, "j")]
    board = named(boards([*cases, bypassed, joint], [*scores, *more]), "judged_A")
    assert board.columns == ("system", "paradigm", "EA")
    assert board.rows == (
        ("x", "sequential", "80.0 (1)"),
        ("x (source_video)", "sequential", "60.0 (1)"),
        ("j", "joint", "50.0 (1)"),
    )


def test_coupled_edits_are_split_by_type() -> None:
    cases, scores = made({"x": [60.0]}, scope="C", subtype="C3")
    more, others = made({"x": [80.0]}, scope="C", subtype="C5")
    more = [case("C", name="other/x", system="x", subtype="C5")]
    others = [record("edit_accuracy", 80.0, "other/x", "x")]
    found = boards([*cases, *more], [*scores, *others])
    assert named(found, "judged_C").rows == (("x", "70.0 (2)"),)
    assert named(found, "judged_C_C5").rows == (("x", "80.0 (1)"),)


def test_an_edit_type_that_nobody_foresaw_has_a_table_of_its_own() -> None:
    """The paper names five of twelve types: types are words of the data."""
    cases, scores = made({"x": [60.0]}, scope="C", edit_type="Gravity Change")
    other = case("C", name="other/x", system="x", edit_type="Mood Change")
    found = boards([*cases, other], [*scores, record("edit_accuracy", 80.0, other.id, "x")])
    assert named(found, "judged_C_Gravity Change").rows == (("x", "60.0 (1)"),)
    assert named(found, "judged_C_Mood Change").rows == (("x", "80.0 (1)"),)


def test_two_sets_of_matched_systems_are_worth_a_warning() -> None:
    cases, scores = made({"x": [80.0, 60.0]})
    scores[1] = record("edit_accuracy", 60.0, scores[1].case, "x", systems=["x"])
    assert any("different sets of systems" in note for note in named(boards(cases, scores), "judged_A").notes)


def test_the_order_of_systems_changes_no_cell() -> None:
    cases, scores = made({"x": [80.0, 60.0], "y": [50.0, None], "z": [10.0, 20.0]})
    cells = {row[0]: row[1:] for row in named(boards(cases, scores), "judged_A").rows}
    order = [3, 0, 5, 1, 4, 2]
    again = boards([cases[at] for at in order], [scores[at] for at in order])
    assert {row[0]: row[1:] for row in named(again, "judged_A").rows} == cells


def test_consistency_is_spearman_per_system_with_the_sign_of_lpips_turned() -> None:
    rng = np.random.default_rng(0)
    cases: list[Case] = []
    scores: list[Score] = []
    expected = []
    for system in ("x", "y"):
        grades, distances = rng.random(9) * 100, rng.random(9)
        expected.append(float(spearmanr(grades, -distances).statistic))
        for number, (grade, distance) in enumerate(zip(grades, distances, strict=True)):
            name = f"{number}/{system}"
            cases.append(case("A", name=name, system=system))
            scores.append(record("modality_selectivity_video", float(grade), name, system))
            scores.append(record("lpips", float(distance), name, system))
    row = named(boards(cases, scores), "consistency").rows[0]
    assert row[:3] == ("A", "modality_selectivity_video", "lpips")
    assert row[3:6] == pytest.approx((np.mean(expected), min(expected), max(expected)))
    assert row[7:] == (2, 18)


def ranked(metric: str, *stand_ins: bool) -> list[tuple[object, ...]]:
    """Rows of the board for a system per word, whose embedding values are a stand-in's or not."""
    cases: list[Case] = []
    scores: list[Score] = []
    pairs = {"text_audio": ("A", "edit_accuracy"), "audio_video": ("C", "av_consistency")}
    scope, judged = pairs.get(metric, ("A", "modality_selectivity_video"))
    for system, stand_in in enumerate(stand_ins):
        for number in range(9):
            name = f"{number}/{system}"
            cases.append(case(scope, name=name, system=str(system)))
            scores.append(record(judged, float(number), name, str(system)))
            one = record(metric, float(number), name, str(system))
            model = ModelRef("m", "0" * 64, Tier.EMBEDDED, "the published one" if stand_in else "")
            scores.append(replace(one, models=(model,)))
    found = [board for board in boards(cases, scores) if board.id == "consistency"]
    return [row for board in found for row in board.rows]


def test_stand_ins_are_ranked_apart_and_sentences_against_names_not_at_all() -> None:
    assert [(row[2], row[7], row[8]) for row in ranked("lpips", True, False, True)] == [
        ("lpips", 1, 9),
        ("lpips*", 2, 18),
    ]
    assert [row[2] for row in ranked("text_audio", False)] == ["text_audio"]
    assert ranked("text_audio", True) == []
    assert [row[2] for row in ranked("audio_video", True)] == ["audio_video*"]


PROMPTS = ["a dog barks loudly", "a cat meows", "a dog barks"]


def test_diversity_of_three_prompts() -> None:
    """Section 6, golden."""
    found = diversity(PROMPTS)
    assert (found.prompts, found.tokens, found.ttr, found.unique) == (3, 10, 0.6, 1.0)
    assert found.distinct_2 == pytest.approx(5 / 7)
    assert found.self_bleu == pytest.approx(0.357866, abs=1e-6)
    split = [tokens_of(prompt) for prompt in PROMPTS]
    assert self_bleu(split, 4) == pytest.approx([0.397635, 0.113622, 0.562341], abs=1e-6)
    assert self_bleu(split, 2) == pytest.approx([0.707107, 0.129099, 1.0], abs=1e-6)


def test_diversity_of_repetition_and_of_nothing() -> None:
    repeated = diversity(["a dog barks at the moon"] * 4)
    assert (repeated.unique, repeated.self_bleu) == (0.25, 1.0)
    empty = diversity([])
    assert (empty.ttr, empty.distinct_2, empty.self_bleu) == (None, None, None)
    assert tokens_of('"Hello," she said (twice)... -') == ["hello", "she", "said", "twice", "-"]
