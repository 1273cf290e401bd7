"""Aggregation of the objective half (spec 5): what a mean is over, what is missing, and that tiers never meet."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.objective_board import HEADS, objective_boards
from evaluator.suites.ave_compass.routing import HEADLINE, ROUTING
from evaluator.suites.ave_compass.tallies import (
    GATED,
    NOTHING,
    PUBLISHED,
    STAND_INS,
    Tally,
    missing_outputs,
    tallies,
)
from tests.suites.ave_compass.cases import AMT, RIFE, case, record

LAYOUT = {"instructions": 6, "missing_output": {"speech": 2}, "unusable": 1}


def three_cases(**data: Any) -> list[Case]:
    return [case(name, "joint", **data) for name in ("a", "b", "c")]


def tally(cases: list[Case], scores: list[Score], metric: str) -> Tally:
    (found,) = [one for one in tallies(cases, scores) if one.metric == metric]
    return found


def test_a_null_is_ignored_and_never_a_zero() -> None:
    """Spec 12.3: values 0.5, null and NaN have the mean 0.5 (a NaN cannot become a record here)."""
    scores = [
        record("a", "av_sync", 0.5),
        record("b", "av_sync", reason="not_applicable"),
        record("c", "av_sync", reason="incomplete"),
    ]
    found = tally(three_cases(), scores, "av_sync")
    assert (found.mean, found.n_scored, found.n_active) == (0.5, 1, 3)
    assert found.coverage == pytest.approx(1 / 3)
    assert found.missing == {"not_applicable": 1, "incomplete": 1}
    assert found.mean_with_failures_as_zero == pytest.approx(0.5 / 3)


def test_a_metric_without_values_has_no_mean() -> None:
    scores = [record(name, "av_sync", reason="unavailable") for name in "abc"]
    found = tally(three_cases(), scores, "av_sync")
    assert (found.mean, found.mean_with_failures_as_zero, found.kind) == (None, None, NOTHING)


def test_what_this_machine_lacks_is_no_failure_of_the_system() -> None:
    scores = [record("a", "av_sync", 0.5), record("b", "av_sync", reason="unavailable")]
    found = tally(three_cases(), scores, "av_sync")
    assert found.mean_with_failures_as_zero == 0.5
    assert found.coverage == 0.5


def test_zeros_given_for_silence_are_counted() -> None:
    scores = [record("a", "av_sync", 0.0, silent=True), record("b", "av_sync", 0.0), record("c", "av_sync", 0.9)]
    found = tally(three_cases(), scores, "av_sync")
    assert found.n_zero_by_silence == 1
    assert found.mean == pytest.approx(0.3)


def test_branches_are_mixed_with_equal_weight_per_case() -> None:
    cases = [case("a", "joint"), case("b", "speech"), case("c", "audio-only")]
    scores = [record(name, "av_sync", value) for name, value in (("a", 1.0), ("b", 0.4), ("c", 0.1))]
    assert tally(cases, scores, "av_sync").mean == pytest.approx(0.5)


def test_tiers_never_share_a_mean() -> None:
    scores = [
        record("a", "motion_smoothness", 1.0, models=(AMT,)),
        record("b", "motion_smoothness", 0.5, models=(RIFE,)),
        record("c", "motion_smoothness", 0.7, models=(RIFE,)),
    ]
    found = {one.kind: one for one in tallies(three_cases(), scores)}
    assert found[PUBLISHED].mean == 1.0
    assert found[STAND_INS].mean == pytest.approx(0.6)
    assert found[STAND_INS].models == ("rife for AMT-G",)
    headline = objective_boards(three_cases(), scores)[0]
    assert [row[1] for row in headline.rows] == [PUBLISHED, STAND_INS]
    assert any("rife for AMT-G" in note and "motion_smoothness" in note for note in headline.notes)


def test_missing_outputs_lower_the_coverage_of_the_metrics_of_their_branch() -> None:
    """Gemini-Omni lost 16 speech edits: lip_sync has nothing, av_sync lacks them, audio_similarity does not care."""
    cases = three_cases(layout=LAYOUT)
    scores = [record(item.id, name, 0.8) for item in cases for name in ("av_sync", "motion_smoothness")]
    found = {one.metric: one for one in tallies(cases, scores)}
    assert (found["av_sync"].n_active, found["av_sync"].missing) == (5, {"missing_output": 2})
    assert found["lip_sync"].mean is None
    assert found["lip_sync"].missing == {"missing_output": 2}
    assert "audio_similarity" not in found
    assert found["av_sync"].mean_with_failures_as_zero == pytest.approx(0.8 * 3 / 5)


def test_a_part_of_an_import_counts_no_missing_outputs_and_says_so() -> None:
    cases = three_cases(layout=LAYOUT)[:2]
    assert missing_outputs(cases) == {}
    scores = [record(item.id, "av_sync", 0.8) for item in cases]
    assert tally(cases, scores, "av_sync").coverage == 1.0
    assert any("2 of 6 cases were scored" in note for note in objective_boards(cases, scores)[0].notes)


def test_a_manifest_by_hand_has_no_layout() -> None:
    assert missing_outputs(three_cases()) == {}


def test_thin_coverage_is_flagged_in_the_table() -> None:
    cases = three_cases(layout=LAYOUT)
    scores = [record(item.id, "av_sync", 0.8) for item in cases]
    assert objective_boards(cases, scores)[0].rows[0][-1] == "av_sync"


def test_systems_have_rows_of_their_own() -> None:
    cases = [case("a", "joint", "one"), case("b", "joint", "two")]
    scores = [record("a", "av_sync", 0.2, system="one"), record("b", "av_sync", 0.8, system="two")]
    headline, by_branch, coverage, apart = objective_boards(cases, scores)
    assert [row[0] for row in apart.rows] == ["one - two"]
    column = headline.columns.index(HEADS["av_sync"])
    assert [(row[0], row[column]) for row in headline.rows] == [("one", 0.2), ("two", 0.8)]
    assert [row[:4] for row in by_branch.rows] == [("one", "joint", PUBLISHED, 1), ("two", "joint", PUBLISHED, 1)]
    assert [row[0] for row in coverage.rows] == ["one", "two"]


@pytest.mark.parametrize(("profile", "branch"), [("paper", "speech"), ("compat", "joint")])
def test_a_misrouted_case_stands_under_the_branch_that_it_was_scored_as(profile: str, branch: str) -> None:
    """The reference's `by_category` groups by what its normaliser made of the label."""
    scores = [replace(record("a", "av_sync", 0.5), profile=profile)]
    by_branch = objective_boards([case("a", "speech", branch_label="speech_edit")], scores)[1]
    assert [row[1] for row in by_branch.rows] == [branch]


def test_judged_records_make_no_objective_table() -> None:
    assert objective_boards(three_cases(), [record("a", "editing_intent", 0.5)]) == ()


def test_a_gate_of_a_stand_in_is_no_failure_of_the_system() -> None:
    """That nobody speaks is found by other models than the published one, which has no such gate."""
    scores = [record("a", "motion_smoothness", reason="not_applicable", models=(RIFE,))]
    found = tally(three_cases(), scores, "motion_smoothness")
    assert found.missing == {GATED: 1}
    assert found.mean_with_failures_as_zero is None


def test_the_columns_are_the_metrics_of_the_routing_table() -> None:
    assert tuple(HEADS) == tuple(ROUTING)


PUBLISHED_MEANS = {  # spec 12.1: lip, av_sync, aesthetic, subject, motion, audio aes., speech q.
    "AVE-Agent": (0.622, 0.766, 0.452, 0.972, 0.987, 0.614, 0.368),
    "Wan2.7": (0.531, 0.693, 0.451, 0.969, 0.986, 0.609, 0.428),
    "HappyHorse": (0.620, 0.695, 0.439, 0.975, 0.989, 0.650, 0.726),
    "Gemini-Omni": (None, 0.701, 0.434, 0.974, 0.988, 0.627, None),
    "Seedance": (0.431, 0.718, 0.430, 0.971, 0.987, 0.629, 0.388),
    "LTX2": (0.618, 0.758, 0.468, 0.968, 0.986, 0.641, 0.522),
}
DELTAS = (0.091, 0.073, 0.001, 0.003, 0.001, 0.005, -0.060)


def published() -> dict[str, Any]:
    """The tables of two speech cases per system whose means are the published figures, one without speech cases."""
    cases, scores = [], []
    for system, means in PUBLISHED_MEANS.items():
        for name, shift in (("1", 0.02), ("2", -0.02)):
            branch = "joint" if means[0] is None else "speech"
            cases.append(case(f"{system}/{name}", branch, system=system))
            for metric, mean in zip(HEADLINE, means, strict=True):
                if mean is not None:
                    scores.append(record(f"{system}/{name}", metric, mean + shift, system=system))
    return {board.id: board for board in objective_boards(cases, scores)}


def test_the_published_board() -> None:
    rows = published()["objective"].rows
    assert [row[0] for row in rows] == list(PUBLISHED_MEANS)
    for row in rows:
        assert row[2:9] == pytest.approx(PUBLISHED_MEANS[str(row[0])])


def test_the_published_differences() -> None:
    rows = {row[0]: row for row in published()["objective_deltas"].rows}
    assert rows["AVE-Agent - Wan2.7"][2:9] == pytest.approx(DELTAS)
    assert rows["AVE-Agent - Gemini-Omni"][2] is None
    assert len(rows) == 5


def test_stand_ins_have_no_difference_to_published_models() -> None:
    cases = [case("a", "joint", system="one"), case("b", "joint", system="two")]
    scores = [
        record("a", "motion_smoothness", 0.9, system="one", models=(AMT,)),
        record("b", "motion_smoothness", 0.8, system="two", models=(RIFE,)),
    ]
    assert "objective_deltas" not in {board.id for board in objective_boards(cases, scores)}
