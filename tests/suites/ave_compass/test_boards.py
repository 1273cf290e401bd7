"""The judged tables: the published board through our averages, what never shares a mean, coverage, analyses."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from evaluator.report.boards import printed
from evaluator.schema import Case, ModelRef, Reason, Score, Status, Tier
from evaluator.suites.ave_compass import boards as tables
from evaluator.suites.ave_compass import correlations, errors_table, strata
from evaluator.suites.ave_compass.boards import MAIN, boards
from evaluator.suites.ave_compass.cells import Records
from evaluator.suites.board import Board
from tests.suites.ave_compass.judging import case, checklist, score

PUBLISHED = {  # spec 12.1, percent: EI, IF, FP, REAL, each overall, video, audio
    "AVE-Agent": (59.8, 66.7, 50.2, 77.3, 84.8, 69.4, 77.6, 80.1, 74.8, 62.1, 45.3, 78.9),
    "Wan2.7": (42.4, 60.1, 24.8, 69.3, 78.3, 60.3, 64.2, 78.5, 48.1, 60.4, 43.5, 77.4),
    "HappyHorse": (41.3, 56.7, 18.8, 66.9, 75.5, 54.5, 63.9, 74.5, 53.3, 63.0, 49.9, 76.0),
    "Gemini-Omni": (38.0, 56.1, 10.0, 44.9, 74.0, 10.8, 84.9, 76.8, 96.1, 66.9, 49.2, 84.5),
    "Seedance": (26.6, 36.1, 13.5, 37.4, 50.5, 24.4, 81.7, 83.0, 80.4, 69.2, 54.0, 84.4),
    "LTX2": (15.2, 10.7, 26.4, 70.1, 72.8, 66.2, 30.6, 24.5, 42.3, 64.1, 42.0, 86.2),
}
DELTAS = (17.4, 6.6, 25.4, 8.0, 6.5, 9.1, 13.4, 1.6, 26.7, 1.7, 1.8, 1.5)


def by_id(found: list[Board]) -> dict[str, Board]:
    return {board.id: board for board in found}


def published() -> tuple[list[Case], list[Score]]:
    """Two cases per system whose mean is the published figure, in an order that is not that of the board."""
    cases, scores = [], []
    for system in reversed(PUBLISHED):
        for name, shift in (("1", 0.02), ("2", -0.02)):
            one = case(None, f"{system}/{name}", system=system)
            cases.append(one)
            scores += [
                score(one, metric, value / 100 + shift) for metric, value in zip(MAIN, PUBLISHED[system], strict=True)
            ]
    return cases, scores


def test_the_published_board_in_its_own_order() -> None:
    board = by_id(boards(*published()))["subjective"]
    assert [row[0] for row in board.rows] == list(PUBLISHED)  # rank by EI overall
    for row in board.rows:
        assert row[4:] == pytest.approx(PUBLISHED[str(row[0])])
    assert board.decimals == 1
    assert "59.8" in printed(board)


def test_the_published_differences() -> None:
    board = by_id(boards(*published()))["deltas"]
    (row,) = [row for row in board.rows if row[0] == "AVE-Agent - Wan2.7"]
    assert row[3:] == pytest.approx(DELTAS)


def test_relations_of_the_published_board() -> None:
    for row in PUBLISHED.values():
        intent, following, fidelity = row[0], row[3], row[6]
        assert row[9] == pytest.approx(fmean(row[10:12]), abs=0.05 + 0.051)
        assert intent < following * fidelity / 100
    overall = [row[0] for row in PUBLISHED.values()]
    assert overall == sorted(overall, reverse=True)


def test_means_are_macro_averages_and_never_products_of_means() -> None:
    cases = [case(None, name) for name in ("a", "b")]
    scores = [
        score(one, metric, value)
        for one, (ei, following, fidelity) in zip(cases, ((1.0, 1.0, 1.0), (0.0, 1.0, 0.0)), strict=True)
        for metric, value in (
            ("editing_intent", ei),
            ("instruction_following", following),
            ("fidelity_preserving", fidelity),
        )
    ]
    (row,) = by_id(boards(cases, scores))["subjective"].rows
    assert row[4] == 50.0  # spec 12.3: two cases with EI 100 and 0
    assert row[5] is None


def test_kinds_of_evidence_and_judges_never_share_a_mean() -> None:
    cases = [case(None, name) for name in "abc"]
    fixture = ModelRef("tiny", "cd", Tier.EMBEDDED, "a trained judge")
    scores = [
        score(cases[0], "editing_intent", 1.0),
        score(cases[1], "editing_intent", 0.0, {"evidence": "substitute"}),
        score(cases[2], "editing_intent", 0.5, models=(fixture,)),
    ]
    board = by_id(boards(cases, scores))["subjective"]
    assert [(row[1], row[2], row[4]) for row in board.rows] == [
        ("judge", "native", 100.0),
        ("judge", "substitute", 0.0),
        ("tiny*", "native", 50.0),
    ]
    assert any("mean nothing" in note for note in board.notes)
    assert not any("mean nothing" in note for note in by_id(boards(cases[:2], scores[:2]))["subjective"].notes)


def test_coverage_counts_what_is_missing_and_what_it_would_cost() -> None:
    layout = {"instructions": 4, "missing_output": {"joint": 1}}
    cases = [case(None, name, data={"layout": layout}) for name in "abc"]
    failed = Reason("refused", "no")
    scores = [
        score(cases[0], "editing_intent", 0.8),
        score(cases[1], "editing_intent", None, status=Status.FAILED, reason=failed),
        score(cases[2], "editing_intent", None),
    ]
    (row,) = by_id(boards(cases, scores))["coverage"].rows
    named = dict(zip(by_id(boards(cases, scores))["coverage"].columns, row, strict=True))
    assert (named["active"], named["scored"], named["coverage"]) == (3, 1, "0.333 !")
    assert named["mean"] == pytest.approx(80.0)
    assert named["failures as 0"] == pytest.approx(80.0 / 3)
    assert named["missing"] == "1 missing_output, 1 refused"


TREE = checklist(("IF", "video", "Is rain visible?"), ("IF", "audio", "Is rain audible?"), ("FP", "video", "Is it?"))
LOST = Reason("refused", "no")


def covered(cases: list[Case], scores: list[Score], short: str) -> dict[str, dict[str, Any]]:
    """System -> its row of one score."""
    board = by_id(boards(cases, scores))["coverage"]
    named = [dict(zip(board.columns, row, strict=True)) for row in board.rows]
    return {str(row["system"]): row for row in named if row["score"] == short}


def test_items_of_a_case_that_failed_were_asked_and_not_answered() -> None:
    cases = [case(TREE, name) for name in "abc"]
    metric = "instruction_following"
    scores = [
        score(cases[0], metric, 0.5, {"asked": 2, "answered": 1}),
        score(cases[1], metric, None, status=Status.FAILED, reason=LOST),
        score(cases[2], metric, None),  # a clip with nothing to show: the checklist has items
    ]
    row = covered(cases, scores, "IF")["s"]
    assert (row["active"], row["scored"], row["items"], row["answered"]) == (3, 1, 6, 1)
    assert (row["coverage"], row["missing"]) == ("0.333 !", "1 not_applicable, 1 refused")
    assert row["failures as 0"] == pytest.approx(50.0 / 3)


def test_a_cell_that_the_checklist_leaves_empty_is_not_missing() -> None:
    lone = case(checklist(("IF", "video", "Is rain visible?")), "b")
    cases = [case(TREE, "a"), lone]
    scores = [score(cases[0], "editing_intent", 1.0), score(lone, "editing_intent", None)]
    assert covered(cases, scores, "EI")["s"]["coverage"] == "1.000"
    scores = [score(cases[0], "realism", 1.0), score(lone, "realism", None)]  # a clip without pictures
    assert covered(cases, scores, "REAL")["s"]["coverage"] == "0.500 !"


@pytest.mark.parametrize(
    "lost", [{"status": Status.FAILED, "reason": Reason("not_media", "no")}, {"reason": Reason("no_judge", "nobody")}]
)
def test_a_cell_that_the_checklist_leaves_empty_is_not_missing_in_a_lost_case(lost: dict[str, Any]) -> None:
    """A clip that cannot be read fails in every score, whatever its checklist asks."""
    lone = case(checklist(("IF", "video", "Is rain visible?")), "b")
    cases = [case(TREE, "a"), lone]
    families = {"instruction_following": "IF", "fidelity_preserving": "FP", "editing_intent": "EI"}
    scores = [score(cases[0], family, 1.0) for family in families]
    scores += [score(lone, family, None, **lost) for family in families]
    found = {short: covered(cases, scores, short)["s"] for short in families.values()}
    assert {short: row["active"] for short, row in found.items()} == {"IF": 2, "FP": 1, "EI": 1}
    assert (found["FP"]["coverage"], found["FP"]["failures as 0"]) == ("1.000", 100.0)


def test_a_system_of_which_every_case_failed_has_a_line() -> None:
    cases = [case(TREE, "a", system="good"), case(TREE, "b", system="bad"), case(TREE, "c", system="unjudged")]
    scores = [
        score(cases[0], "realism", 0.5),
        score(cases[1], "realism", None, status=Status.FAILED, reason=LOST),
        score(cases[2], "realism", None, reason=Reason("no_judge", "nobody")),
    ]
    rows = covered(cases, scores, "REAL")
    assert (rows["bad"]["coverage"], rows["bad"]["mean"], rows["bad"]["failures as 0"]) == ("0.000 !", None, 0.0)
    assert (rows["unjudged"]["coverage"], rows["unjudged"]["failures as 0"]) == ("0.000 !", None)


def test_without_a_judge_there_is_no_table() -> None:
    assert boards([case(None)], [score(case(None), "editing_intent", None)]) == []


def test_response_rates() -> None:
    cases = [case(None, name) for name in "abc"]
    scores = [score(one, "edit_response_video", value) for one, value in zip(cases, (1.0, 0.0, 1.0), strict=True)]
    scores.append(score(cases[0], "edit_response", 0.5))
    (row,) = by_id(boards(cases, scores))["responses"].rows
    assert row[3:] == (pytest.approx(200 / 3), 3, None, 0, 50.0, 1)


def test_branches_have_lines_of_their_own() -> None:
    cases = [case(None, name, category=name) for name in ("speech", "joint")]
    scores = [score(one, "editing_intent", value) for one, value in zip(cases, (0.25, 0.75), strict=True)]
    scores.append(score(cases[0], "edit_response_audio", 1.0))
    board = by_id(boards(cases, scores))["branches"]
    assert [(row[1], row[5]) for row in board.rows] == [("joint", 75.0), ("speech", 25.0)]
    assert board.rows[1][board.columns.index("ER a")] == 100.0
    as_published = [replace(one, data={"branch_label": "speech_edit"}) for one in cases[:1]] + cases[1:]
    compat = [replace(one, profile="compat") for one in scores]  # which takes the label for joint
    assert [(row[1], row[5]) for row in by_id(boards(as_published, compat))["branches"].rows] == [("joint", 50.0)]


# -------------------------------------------------------------------------------------------------------- analyses


def test_kinds_of_errors() -> None:
    cases = [case(None, name) for name in "ab"]
    scores = [
        score(cases[0], "instruction_following_video", 0.5),
        score(cases[0], "fidelity_preserving_video", 0.25),
        score(cases[0], "realism", 0.75, {"grades": {"naturalness": 2, "MTC": None}}),
        score(cases[1], "instruction_following_video", 1.0),
        score(cases[1], "realism", 1.0, {"grades": {"naturalness": 5}}),
    ]
    found = {one.category: one for one in errors_table.breakdown(Records(cases, scores), cases)}
    assert {name: (one.errors, one.defined, one.dominant) for name, one in found.items()} == {
        "instruction, video": (1, 2, 0),
        "fidelity, video": (1, 1, 1),
        "realism": (1, 2, 0),
    }
    assert found["instruction, video"].share == 50.0
    lenient = errors_table.breakdown(Records(cases, scores), cases, threshold=0.5, grade=1)
    assert {one.category: one.errors for one in lenient} == {
        "instruction, video": 0,
        "fidelity, video": 1,
        "realism": 0,
    }
    assert errors_table.dominant({"a": 1.0}) is None


def test_strata_by_label_and_by_the_length_of_the_source() -> None:
    lengths = (3.99, 4.0, 7.99, 9.0, 10.05, 12.0)
    cases = [case(None, str(n), labels={"localisation": "hard", "linkage": "odd"}) for n in range(len(lengths))]
    scores = [
        score(one, "editing_intent", 0.5, {"source_seconds": seconds})
        for one, seconds in zip(cases, lengths, strict=True)
    ]
    records = Records(cases, scores)
    placed = {name: len(members) for name, members in strata.by_stratum(records, cases, "duration").items()}
    assert placed == {"[0,4)": 1, "[4,5)": 1, "[6,8)": 1, "[9,10]": 2}
    board = by_id(boards(cases, scores))["strata"]
    assert {row[0] for row in board.rows} == {"localisation", "duration"}
    assert [row[5] for row in board.rows if row[0] == "localisation"] == ["6"]
    assert [row[5] for row in board.rows if row[1] == "[0,4)"] == ["1 few"]
    assert "duration: 1 cases have no stratum" in board.notes


def rows(count: int, seed: int = 0) -> tuple[list[Case], list[Score], Any]:
    data = np.random.default_rng(seed).integers(0, 6, (count, 2)) / 5
    cases = [case(None, str(n), system=f"s{n % 2}") for n in range(count)]
    scores = [
        score(one, metric, float(value))
        for one, pair in zip(cases, data, strict=True)
        for metric, value in zip(("editing_intent", "realism"), pair, strict=True)
    ]
    return cases, scores, data


def test_rank_correlation_is_scipys_over_pooled_rows() -> None:
    cases, scores, data = rows(24)
    found = correlations.table(Records(cases, scores))
    pair = found["editing_intent", "realism"]
    assert pair.rho == pytest.approx(spearmanr(data[:, 0], data[:, 1]).statistic)
    assert pair.n == 24
    assert found["realism", "realism"].rho == pytest.approx(1.0)
    board = by_id(boards(cases, scores))["spearman"]
    assert board.columns == ("", "EI", "REAL")
    within = correlations.table(Records(cases, scores), unit="within")["editing_intent", "realism"]
    own = [spearmanr(data[start::2, 0], data[start::2, 1]).statistic for start in (0, 1)]
    assert within.rho == pytest.approx(fmean(own))


def test_few_or_constant_rows_have_no_correlation() -> None:
    cases, scores, _ = rows(9)
    assert correlations.table(Records(cases, scores))["editing_intent", "realism"].rho is None
    assert "spearman" not in by_id(boards(cases, scores))
    cases, scores, _ = rows(12)
    flat = [replace(one, value=0.5) if one.metric == "realism" else one for one in scores]
    assert correlations.table(Records(cases, flat))["editing_intent", "realism"].rho is None


def test_every_board_can_be_printed() -> None:
    for board in boards(*published()):
        assert printed(board).startswith("AVE-Compass")
    assert len(tables.TABLES) == 10
