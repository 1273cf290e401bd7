"""Scores of the judge from scores of questions: the golden numbers of both definitions, and what missing answers do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.suites.covebench import errors_table, tally
from evaluator.suites.covebench.questions import Dimension, groups_of, items_of
from evaluator.suites.covebench.rules import Missing, score_of
from evaluator.suites.covebench.sheets import Sheet
from tests.suites.covebench.judging import GROUPS, case_of, execution, group, kept, physics

ANSWERS: dict[int, dict[str, Any]] = {
    9001: {"Q1": "B", "Q2": "no", "Q3": "Yes", "Q4": "No", "Q5": "No", "Q6": 9, "Q7": 5},
    9002: {"Q1": "true", "Q2": "A and B", "Q3": None, "Q4": "7"},
    9003: {"Q1": "No", "Q2": "Yes", "Q3": 10, "Q4": "8/10"},
}
"""Spec section 12.1."""


def sheets(shared: Path, tolerant: bool) -> list[Sheet]:
    tasks = json.loads((shared / "data" / "covebench" / "checklist.json").read_text())
    found = []
    for task in tasks:
        case = case_of(task["evaluation_groups"], task["id"])
        groups = groups_of(case)
        said = ANSWERS[task["id"]]
        found.append(Sheet(case, groups, {i.id: score_of(i, said[i.id], tolerant) for i in items_of(groups)}))
    return found


@pytest.mark.parametrize(
    ("tolerant", "missing", "uas", "ifs", "vrs", "inadequate"),
    [
        (False, "reference", (40.0, 5), (50.0, 6), (100.0, 3), 3),
        (True, "reference", (60.0, 5), (66.6667, 6), (100.0, 3), 2),
        (True, "wrong", (60.0, 5), (66.6667, 6), (75.0, 4), 2),
    ],
)
def test_the_golden_table(
    shared: Path,
    tolerant: bool,
    missing: Missing,
    uas: tuple[float, int],
    ifs: tuple[float, int],
    vrs: tuple[float, int],
    inadequate: int,
) -> None:
    found = sheets(shared, tolerant)
    tasks = [sheet.task for sheet in found]
    shares = [tally.pooled_union(tasks, missing)]
    shares += [tally.pooled(tasks, one, missing) for one in (Dimension.IFS, Dimension.VRS)]
    assert [(pytest.approx(share.value, abs=1e-4), share.n) for share in shares] == [uas, ifs, vrs]
    assert errors_table.execution_inadequacy(found, missing).count == inadequate
    sem = tally.pooled(tasks, Dimension.SEM, "reference")
    assert (sem.value, sem.n, sem.missing) == (77.5, 4, 1)
    entangled = errors_table.spatial_entanglement(found, "reference")
    assert (entangled.count, entangled.of) == (1, 4)


def test_a_grade_that_is_missing_is_the_lowest_where_missing_is_wrong(shared: Path) -> None:
    sem = tally.pooled([sheet.task for sheet in sheets(shared, True)], Dimension.SEM, "wrong")
    assert (sem.value, sem.n) == (pytest.approx(64.0), 5)  # (9 + 5 + 7 + 10 + 1) / 5


@pytest.mark.parametrize(
    ("row", "expected"),
    [(0, (0.0, 66.6667, 100.0, 7.0)), (1, (None, 0.0, None, 7.0)), (2, (1.0, 100.0, 100.0, 10.0))],
)
def test_the_superseded_definition(shared: Path, row: int, expected: tuple[float | None, ...]) -> None:
    task = sheets(shared, False)[row].task
    means = [tally.task_mean(task, one, "reference") for one in (Dimension.IFS, Dimension.VRS, Dimension.SEM)]
    assert [tally.task_union(task, "reference"), *means] == [
        None if value is None else pytest.approx(value, abs=1e-4) for value in expected
    ]


def test_an_edit_may_have_one_kind_only_and_what_stays_never_enters() -> None:
    groups = groups_of(case_of([group(execution("Q1")), group(physics("Q2")), group(kept("Q3"))]))
    found = tally.pooled_union([(groups, {"Q1": 1.0, "Q2": 0.0, "Q3": 1.0})], "reference")
    assert (found.value, found.n) == (50.0, 2)


def test_defect_1_the_reference_lets_a_failing_judge_raise_uas_and_we_do_not() -> None:
    task = (groups_of(case_of()), {"Q1": 1.0, "Q2": 0.0, "Q3": 1.0, "Q4": 1.0})
    lost = (task[0], {**task[1], "Q2": None})
    assert tally.pooled_union([lost], "reference").value == 100.0 > 50.0
    assert tally.pooled_union([task], "reference").value == tally.pooled_union([lost], "wrong").value == 50.0


def test_an_edit_without_any_answer_is_counted_as_lost() -> None:
    groups = groups_of(case_of())
    scores = {"Q1": 1.0, "Q2": 1.0, "Q3": 1.0, "Q4": None}
    left_out = tally.pooled_union([(groups, scores)], "reference")
    assert (left_out.value, left_out.n, left_out.missing) == (100.0, 1, 1)
    wrong = tally.pooled_union([(groups, scores)], "wrong")
    assert (wrong.value, wrong.n, wrong.missing) == (50.0, 2, 1)


def test_nothing_was_asked() -> None:
    groups = groups_of(case_of())
    assert tally.pooled_union([(groups, {})], "wrong") == tally.Share(None, 0, 0)
    assert tally.pooled([(groups, {"Q5": 9.0})], Dimension.IFS, "wrong") == tally.Share(None, 0, 0)


BITS = st.sampled_from([0.0, 1.0])
SCORES = st.fixed_dictionaries(
    {**{f"Q{n}": BITS for n in range(1, 5)}, **{f"Q{n}": st.integers(1, 10).map(float) for n in (5, 6)}}
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])  # a busy machine
@given(st.lists(SCORES, min_size=1, max_size=4), st.sets(st.tuples(st.integers(0, 3), st.integers(1, 6))))
def test_whatever_a_judge_fails_to_answer_no_score_rises(
    answered: list[dict[str, float]], lost: set[tuple[int, int]]
) -> None:
    groups = groups_of(case_of(GROUPS))
    whole = [(groups, scores) for scores in answered]
    holes = [
        (groups, {name: None if (row, int(name[1:])) in lost else value for name, value in scores.items()})
        for row, scores in enumerate(answered)
    ]
    pairs = [(tally.pooled_union(holes, "wrong").value, tally.pooled_union(whole, "wrong").value)]
    pairs += [(tally.pooled(holes, d, "wrong").value, tally.pooled(whole, d, "wrong").value) for d in Dimension]
    pairs += [
        (tally.task_union(less, "wrong"), tally.task_union(more, "wrong"))
        for less, more in zip(holes, whole, strict=True)
    ]
    assert all(less is not None and more is not None and less <= more for less, more in pairs)
