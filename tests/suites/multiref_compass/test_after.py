"""After the run: rejudging with both values kept, stability, dimensions, win rates and their agreement with people."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import JudgeError, Question, Raw
from evaluator.judge.types import Status as Answered
from evaluator.schema import Case, ModelRef, Score, Tier
from evaluator.suites.base import Rejudged
from evaluator.suites.multiref_compass.dimensions import (
    correlation,
    dimension_values,
    outcomes,
    rates,
    unit,
)
from evaluator.suites.multiref_compass.preferences import dimension_name, human_outcomes
from evaluator.suites.multiref_compass.rejudging import groups, second_look
from evaluator.suites.multiref_compass.stability import stability
from tests.judge.fakes import FakeBackend
from tests.suites.judging import written
from tests.suites.multiref_compass.cases import case, record


def graded(system: str, *grades: int, sample: str = "s") -> tuple[Case, Score]:
    """A case with one grade per item of VTF, each with an observation."""
    items = [
        {"id": f"v{k}", "question": f"Is {k} so?", "grade": float(grade), "observation": f"{system} saw {grade}"}
        for k, grade in enumerate(grades)
    ]
    name = f"{sample}/{system}"
    return case(name, system), record("vtf", float(np.mean(grades)), name, system, items=items, evidence="native")


def look(folder: Path, pairs: list[tuple[Case, Score]], corrections: Any) -> tuple[Rejudged, list[Question]]:
    """What a second look makes of the records; `corrections` by item, or an error."""
    asked: list[Question] = []

    def reply(question: Question) -> Raw:
        asked.append(question)
        found = corrections.get(question.item.rsplit("/", 1)[-1], [])
        if isinstance(found, JudgeError):
            raise found
        return written({"corrections": found})

    with (
        Ledger(folder / "judge.jsonl") as ledger,
        JudgeSession({"judge": FakeBackend(reply)}, ledger, Mode.CACHE) as session,
    ):
        return second_look([one for one, _ in pairs], [score for _, score in pairs], session), asked


def fix(clip: str, score: int, reason: str = "the same was seen") -> dict[str, Any]:
    return {"clip": clip, "score": score, "reason": reason}


def test_an_unequal_item_is_looked_at_again_and_both_values_are_kept(tmp_path: Path) -> None:
    pairs = [graded("x", 5, 4), graded("y", 3, 4)]
    made, asked = look(tmp_path, pairs, {"v0": [fix("B", 5)]})
    assert [question.item for question in asked] == ["s/rejudge/vtf/v0"]  # both got 4 for the other item
    x, y = made.scores
    assert (x.value, x.details["before"]) == (4.5, 4.5)
    assert (y.value, y.details["before"]) == (4.5, 3.5)
    assert y.details["items"][0]["before"] == 3
    assert y.details["items"][0]["reason"] == "the same was seen"
    assert y.details["beside"] == ["x", "y"]
    assert [entry["asked"] for entry in made.log] == [True, False]


@pytest.mark.parametrize("wrong", [fix("B", 5, " "), fix("B", 3), fix("B", 1), fix("A", 2)])
def test_changes_without_a_reason_or_too_far_are_not_made(tmp_path: Path, wrong: dict[str, Any]) -> None:
    pairs = [graded("x", 5), graded("y", 4)]
    made, _ = look(tmp_path, pairs, {"v0": [wrong]})
    kept = wrong["clip"] == "B" and wrong["score"] == 3
    assert [score.value for score in made.scores] == [5, 3 if kept else 4]


def test_equal_good_grades_are_left_alone_and_a_low_one_is_doubted(tmp_path: Path) -> None:
    made, asked = look(tmp_path, [graded("x", 4, 2), graded("y", 4, 2)], {})
    assert [question.item for question in asked] == ["s/rejudge/vtf/v1"]
    assert [score.value for score in made.scores] == [3, 3]


def test_a_second_look_that_failed_changes_nothing_and_says_so(tmp_path: Path) -> None:
    made, _ = look(tmp_path, [graded("x", 5), graded("y", 3)], {"v0": JudgeError(Answered.ERROR, "no")})
    assert [score.value for score in made.scores] == [5, 3]
    assert made.log[0]["status"] == "error"
    assert all(grade["rejected"] for grade in made.log[0]["grades"])


def test_one_system_alone_or_grades_without_words_are_not_compared(tmp_path: Path) -> None:
    alone = [graded("x", 5), graded("y", 3, sample="t")]
    assert groups([one for one, _ in alone], [score for _, score in alone]) == []
    wordless = case("s/z", "z"), record("vtf", 2.0, "s/z", "z", items=[{"id": "v0", "question": "?", "grade": 2.0}])
    pairs = [graded("x", 5), wordless]
    made, asked = look(tmp_path, pairs, {})
    assert (asked, list(made.scores)) == ([], [score for _, score in pairs])


def test_the_order_of_systems_does_not_change_the_question(tmp_path: Path) -> None:
    pairs = [graded("x", 5), graded("y", 3), graded("z", 4)]
    first, asked = look(tmp_path, pairs, {"v0": [fix("B", 4)]})
    (tmp_path / "again").mkdir()
    again, repeated = look(tmp_path / "again", pairs[::-1], {"v0": [fix("B", 4)]})
    assert [one.parts for one in asked] == [one.parts for one in repeated]
    assert {one.system: one.value for one in first.scores} == {one.system: one.value for one in again.scores}


# --------------------------------------------------------------------------------------------------- stability


def test_relative_deviation_of_five_runs() -> None:
    """Section 8: means 3.95, 3.97, 3.96, 3.98, 3.94 -> 0.39928 %."""
    means = (3.95, 3.97, 3.96, 3.98, 3.94)
    runs = [[record("vtf", mean, items=[{"id": "v", "grade": mean}])] for mean in means]
    board = stability(runs)
    row = dict(zip(board.columns, board.rows[0], strict=True))
    assert row["RSD %"] == pytest.approx(0.39928, abs=1e-5)
    assert row["item MAE"] == pytest.approx(0.012)
    assert (row["cases"], row["below 1 %"]) == (1, "yes")


def test_a_case_without_a_value_in_some_run_is_left_out() -> None:
    runs = [
        [record("aq", 4.0, "a/x"), record("aq", 2.0, "b/x")],
        [record("aq", 4.0, "a/x"), record("aq", None, "b/x")],
    ]
    row = stability(runs).rows[0]
    assert row[:5] == ("aq", 1, 4.0, 0.0, 0.0)


# -------------------------------------------------------------------------------------------------- dimensions


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        (record("vtf", 1.0), 0),
        (record("dp", 4.0), 0.75),
        (record("ef", 0.6), 0.6),
        (record("atq", 7.5), 0.75),
        (record("vtq", 0.2, vtq_sigmoid=0.77), 0.77),
        (record("sls", 4.5), 0.45),
        (record("sls", 12.0), 1.0),
        (record("ts", -0.3), 0.0),
    ],
)
def test_unit_values(score: Score, expected: float) -> None:
    assert unit(score) == pytest.approx(expected)


def test_a_dimension_is_the_mean_of_what_a_sample_has() -> None:
    cases = [case("s/x")]
    found = dimension_values(cases, [record("vtf", 5.0), record("tof", 3.0), record("sca", None)])
    assert found["Instruction Following"] == {("s", "x"): 0.75}
    assert found["Basic Quality"] == {}
    assert dimension_name("IF") == dimension_name("Instruction Following")
    assert dimension_name("Entity Fidelity") == "Reference Consistency"


def test_win_rates_of_three_systems() -> None:
    """Section 6: x beats y and z, y and z tie."""
    values = {("s", "x"): 0.9, ("s", "y"): 0.5, ("s", "z"): 0.5 + 1e-9}
    assert rates(outcomes(values)) == {"x": 1.0, "y": 0.25, "z": 0.25}


def test_only_pairs_of_which_both_outputs_have_a_value() -> None:
    assert outcomes({("s", "x"): 0.9, ("t", "y"): 0.1}) == {}


def test_people_by_majority_and_their_agreement_with_scores() -> None:
    votes = {"IF": {"y": [1, 1, -1, 0], "z": [1, 1, 1, 1]}}
    cases = [
        case("s/x", labels={"preferences": votes}),
        case("s/y", "y", labels={"preferences": {"IF": {"z": [1, -1]}}}),
        case("s/z", "z"),
    ]
    people = human_outcomes(cases, "Instruction Following")
    assert people == {("s", "x", "y"): 1, ("s", "x", "z"): 1, ("s", "y", "z"): 0}
    assert human_outcomes(cases, "Basic Quality") == {}
    ours = {"x": 0.9, "y": 0.4, "z": 0.2}
    assert correlation(ours, rates(people)) == pytest.approx(
        float(np.corrcoef([0.9, 0.4, 0.2], [1.0, 0.25, 0.25])[0, 1])
    )
    assert correlation({"x": 1.0, "y": 0.0}, rates(people)) is None


def test_people_count_only_where_both_outputs_are_there_whichever_side_their_votes_stand_on() -> None:
    votes = {"preferences": {"IF": {"y": [1, 1, -1], "gone": [1, 1, 1]}}}
    cases = [
        case("s/x", labels=votes),
        case("s/y", "y", labels={"preferences": {"Instruction Following": {"x": [1, 1]}}}),
        case("t/gone", "gone"),
    ]
    assert human_outcomes(cases, "Instruction Following") == {("s", "x", "y"): -1}
    assert human_outcomes(cases[::-1], "Instruction Following") == {("s", "x", "y"): -1}


def test_what_stands_in_for_syncnet_is_no_part_of_a_dimension() -> None:
    """Its confidence reaches 1 and not 10; SyncNet on other faces than S3FD's keeps its scale."""
    cases = [case("s/x")]
    graded = record("esm", 5.0)
    for published, expected in (("SyncNet of LatentSync on S3FD tracks", 1.0), ("S3FD", 0.75)):
        model = ModelRef("m", "0" * 64, Tier.EMBEDDED, published)
        found = dimension_values(cases, [graded, replace(record("sls", 5.0), models=(model,))])
        assert found["Audio-Visual Consistency"] == {("s", "x"): expected}


def test_naming_systems_in_another_order_changes_no_rate() -> None:
    rng = np.random.default_rng(0)
    values = {(f"s{k}", system): float(rng.random()) for k in range(20) for system in "xyz"}
    items = list(values.items())
    shuffled = dict(items[at] for at in rng.permutation(len(items)))
    assert rates(outcomes(values)) == pytest.approx(rates(outcomes(shuffled)))
