"""MultiRef-Compass's tables: raw columns with n, common samples, gaps kept apart, EF's parts, SLS's counts."""

from __future__ import annotations

from evaluator.schema import Case, Score
from evaluator.suites.board import Board
from evaluator.suites.multiref_compass.boards import absence, boards
from tests.suites.multiref_compass.cases import case, record

Table = dict[str, dict[str, object]]


def made(
    values: dict[str, dict[str, float | None]], metric: str = "vtf", board: str = "B3"
) -> tuple[list[Case], list[Score]]:
    """system -> sample -> value."""
    cases, scores = [], []
    for system, samples in values.items():
        for sample, value in samples.items():
            cases.append(case(f"{sample}/{system}", system, board))
            scores.append(record(metric, value, f"{sample}/{system}", system))
    return cases, scores


def named(found: tuple[Board, ...], name: str) -> Table:
    board = {one.id: one for one in found}[name]
    return {str(row[0]): dict(zip(board.columns, row, strict=True)) for row in board.rows}


DROPPED = {"x": {"s": 5.0, "t": 1.0}, "y": {"s": 4.0}, "z": {"s": 3.0, "t": 2.0, "u": None}}


def test_each_mean_has_its_n_and_missing_outputs_are_counted() -> None:
    table = named(boards(*made(DROPPED)), "raw_b3")
    assert [row["VTF"] for row in table.values()] == ["3.000 (2)", "4.000 (1)", "2.500 (2)"]
    assert [row["missing"] for row in table.values()] == [1, 2, 0]


def test_common_samples_turn_a_lead_that_rests_on_dropped_samples() -> None:
    """y leads over what it has, and x over what all have."""
    table = named(boards(*made(DROPPED)), "common")
    assert [row["VTF"] for row in table.values()] == ["5.000 (1)", "4.000 (1)", "3.000 (1)"]


def test_boards_stay_apart_and_the_main_table_leaves_the_extension_out() -> None:
    cases, scores = made({"x": {"s": 5.0}}, board="B1")
    more, others = made({"x": {"t": 1.0}}, board="B4")
    found = boards([*cases, *more], [*scores, *others])
    assert named(found, "raw_main")["x"]["VTF"] == "5.000 (1)"
    assert named(found, "raw_b4")["x"]["VTF"] == "1.000 (1)"


def test_reasons_are_kept_apart() -> None:
    kinds = [
        record("sls", None, reason="not_applicable", message="router: nobody is to speak on screen"),
        record("sls", None, reason="not_applicable", message="the clip has no audio stream"),
        record("sls", None, reason="filtered"),
        record("sls", None, reason="incomplete", failed=True),
        record("sls", None, reason="no_judge"),
        record("sls", 4.5),
    ]
    assert [absence(score) for score in kinds] == ["na", "na (clip)", "filtered", "error", "no_judge", ""]


def test_what_no_judge_heard_is_an_empty_cell_and_counted() -> None:
    cases, scores = made({"x": {"s": None, "t": None}}, metric="esm")
    more, others = made({"x": {"s": 4.0, "t": 2.0}}, metric="vtf")
    board = {one.id: one for one in boards(cases, [*scores, *others])}["raw_b3"]
    assert cases == more
    assert named((board,), "raw_b3")["x"] == {"system": "x", "ESM": None, "VTF": "3.000 (2)", "missing": 0}
    assert "no value, ESM: 2 no_judge" in board.notes


def test_speech_sync_says_on_how_many_clips_it_rests() -> None:
    cases, scores = made({"x": {"s": 4.5, "t": None, "u": None, "v": None}}, metric="sls", board="B2")
    scores[1] = record("sls", None, scores[1].case, "x", reason="filtered")
    scores[2] = record("sls", None, scores[2].case, "x", reason="not_applicable", message="router: no")
    board = {one.id: one for one in boards(cases, scores)}["sls"]
    assert dict(zip(board.columns, board.rows[0], strict=True)) == {
        "board": "B2", "system": "x", "SLS": "4.500 (1)", "kept": 1, "filtered": 1, "error": 0, "na": 1, "no judge": 1
    }  # fmt: skip


def test_fidelity_shows_its_parts_and_stand_ins_apart() -> None:
    cases = [case("s/x"), case("t/x")]
    details = {"coverage": 0.5, "human": 0.6}
    scores = [
        record("ef", 0.4, "s/x"),
        record("ef_p_paste", 0.5, "s/x"),
        record("ef_raw", 0.8, "s/x", **details),
        record("ef_raw", 0.6, "t/x", stand_in=True, **details),
    ]
    row = {one.id: one for one in boards(cases, scores)}["fidelity"].rows[0]
    assert row == ("B3", "x", "0.400 (1)", "0.800 (1) / 0.600* (1)", "0.500 (1)", 0.5, 0.6)


def test_strict_speech_is_split_by_language() -> None:
    cases = [case("s/x"), case("t/x"), case("u/x")]
    scores = [
        record("sca_strict", 1.0, "s/x", languages=["en"]),
        record("sca_strict", 0.0, "t/x", languages=["en"]),
        record("sca_strict", 1.0, "u/x", languages=["zh"]),
    ]
    assert named(boards(cases, scores), "sca_strict")["x"] == {"system": "x", "en": "0.500 (2)", "zh": "1.000 (1)"}


def test_people_and_scores_meet_in_the_dimensions() -> None:
    cases, scores = made({"x": {"s": 5.0}, "y": {"s": 3.0}, "z": {"s": 1.0}})
    labels = {"preferences": {"IF": {"y": [1, 1], "z": [1, 1]}}}
    cases[0] = case("s/x", "x", labels=labels)
    cases[1] = case("s/y", "y", labels={"preferences": {"IF": {"z": [1, 1]}}})
    board = {one.id: one for one in boards(cases, scores)}["dimensions"]
    assert [row[1:] for row in board.rows] == [
        ("x", 1.0, 1, 1.0, 1.0),
        ("y", 0.5, 1, 0.5, 0.5),
        ("z", 0.0, 1, 0.0, 0.0),
    ]
    assert any("Pearson's r of win rates, scores against people: 1.0000" in note for note in board.notes)


def test_unit_means_behind_which_a_stand_in_or_a_gap_stands_are_cells_of_their_own() -> None:
    cases = [case("s/x"), case("t/x"), case("u/x")]
    scores = [
        record("bc", 5.0, "s/x"),
        record("bc", 3.0, "t/x"),
        record("ef", 0.3, "t/x", stand_in=True),
        record("bc", 4.0, "u/x", evidence="partial 1 of 2"),
    ]
    (row,) = {one.id: one for one in boards(cases, scores)}["dimensions"].rows
    assert row[:4] == ("Reference Consistency", "x", "1.000 (1) / 0.400* (1) / 0.750~ (1)", 3)


def test_the_order_of_systems_changes_no_cell() -> None:
    cases, scores = made(DROPPED)
    first, again = boards(cases, scores), boards(cases[::-1], scores[::-1])
    for name in ("raw_b3", "common"):
        assert named(first, name) == {key: named(again, name)[key] for key in named(first, name)}
