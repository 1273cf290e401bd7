"""Groups and questions of a checklist, what each question counts for, and what is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from evaluator.suites.covebench.data import examine
from evaluator.suites.covebench.questions import Dimension, Kind, dimension_of, edits, groups_of, items_of
from tests.suites.covebench.judging import GROUPS, case_of, execution, group, kept, physics, question


def test_n_groups_of_edits_and_one_of_what_stays() -> None:
    groups = groups_of(case_of())
    assert len(groups) == 3
    assert edits(groups) == groups[:2]
    assert [item.id for item in groups[0].union] == ["Q1", "Q2", "Q3"]
    assert groups[2].union == ()
    assert groups[0].entries[0].levels == ("Subject", "Removal", "x")
    assert groups[0].entries[0].questions == ("Q1", "Q2")


def test_defect_15_a_group_without_a_category_is_a_group() -> None:
    assert groups_of(case_of())[2].entries == ()
    assert not list(examine(case_of([{**group(execution("Q1")), "category": None}])))


def test_questions_in_order_with_what_they_need() -> None:
    items = items_of(groups_of(case_of()))
    assert [item.id for item in items] == ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"]
    assert items[0].options == ("Q1 first", "Q1 second")
    assert [item.kind.shows_source for item in items] == [False, False, False, True, True, True]
    assert (items[3].difficulty, items[5].difficulty) == ("Hard", "")


def test_the_whole_task_object_is_a_checklist_too() -> None:
    case = case_of()
    whole = {"id": 1, "evaluation_groups": GROUPS}
    assert groups_of(replace(case, checklist=whole)) == groups_of(case)
    assert not list(examine(replace(case, checklist=whole)))
    assert groups_of(replace(case, checklist=None)) == ()


@pytest.mark.parametrize(
    ("kind", "dimension", "group_has", "expected"),
    [
        ("Single-TF", "execution accuracy ", {}, Dimension.IFS),
        ("Score-MCQ", "Something", {"metric": "realism"}, Dimension.SEM),
        ("Dual-TF", "Semantic Consistency", {}, Dimension.SEM),
        ("Dual-TF", "", {"name": "What is unchanged"}, Dimension.SEM),
        ("Single-TF", "Artifact check", {}, Dimension.VRS),
        ("Single-TF", "", {"category": [{"Level 1": "Physics"}]}, Dimension.VRS),
        ("Single-TF", "Instruction following", {}, Dimension.IFS),
        ("Single-TF", "", {}, Dimension.IFS),
        ("Single-TF", "Quality", {"target_element": "The basement wall"}, Dimension.VRS),  # no "sem" of "semantic"
        ("Single-TF", "", {"description": "Is the logic board unchanged?"}, Dimension.IFS),
    ],
)
def test_a_dimension_that_is_none_of_the_three(
    kind: str, dimension: str, group_has: dict[str, Any], expected: Dimension
) -> None:
    """The reference looks for words in what a question and its group are called, not in what they are about."""
    assert dimension_of(question("Q1", kind, dimension, "Yes"), group_has) is expected


@pytest.mark.parametrize("options", [{"X": "y"}, {}, {"A": "only one"}, None])
def test_options_of_a_question_that_has_no_use_for_them_do_no_harm(options: Any) -> None:
    case = case_of([group({**execution("Q1"), "options": options})])
    assert not list(examine(case))
    assert items_of(groups_of(case))[0].options is None


@pytest.mark.parametrize(
    ("given", "fields"),
    [
        (None, []),
        ({"Q1": "B", "Q5": 9, "Q2": None}, []),
        ("B", ["labels.answers"]),
        (["B"], ["labels.answers"]),
        ({"Q1": ["B"], "Q5": 9}, ["labels.answers.Q1"]),
    ],
)
def test_answers_of_people_are_an_object_of_words_and_numbers(given: Any, fields: list[str]) -> None:
    assert [problem.field for problem in examine(case_of(labels={"answers": given}))] == fields


@pytest.mark.parametrize(
    ("groups", "field"),
    [
        ([], "checklist"),
        ([group({**execution("Q1"), "type": "Essay"})], "checklist[0].questions[0].type"),
        ([group({**execution("Q1"), "id": 1})], "checklist[0].questions[0].id"),
        ([group(execution("Q1")), group(physics("Q1"))], "checklist[1].questions[0].id"),
        ([group(execution("Q1", "Maybe"))], "checklist[0].questions[0].expected_answer"),
        ([group(execution("Q1", "C", "AB-MCQ"))], "checklist[0].questions[0].expected_answer"),
        ([group({**execution("Q1", "A", "AB-MCQ"), "options": {"A": "x"}})], "checklist[0].questions[0].options"),
        (
            [{**group(execution("Q1")), "category": [{"Question IDs": ["Q9"], "Level 1": "Style"}]}],
            "checklist[0].category",
        ),
    ],
)
def test_a_checklist_that_cannot_be_judged_is_a_problem(groups: list[dict[str, Any]], field: str) -> None:
    assert field in [problem.field for problem in examine(case_of(groups))]


def test_a_published_checklist_may_say_more_than_we_know() -> None:
    more = {**group({**execution("Q1"), "note": "x"}, {**kept("Q2"), "expected_answer": "anything"}), "extra": [1]}
    assert not list(examine(case_of([more])))
    assert items_of(groups_of(case_of([more])))[1].kind is Kind.SCORE_MCQ
