"""What a CoVEBench case may hold under `data{}` and as its checklist, checked before anything is scored.

The checklist is the task's `evaluation_groups` as published: N groups of questions about edits, followed by one about
what must stay ("N+1"). What is published may have more keys than we know; they are left alone. All levels of the
taxonomy are open vocabularies. Source: CoVEBench 1.2, 1.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluator.errors import UsageError
from evaluator.manifest.problems import Problem, explained, quoted, shown
from evaluator.schema import Case

KINDS = ("Single-TF", "Dual-TF", "AB-MCQ", "Score-MCQ")
"""The four types of question."""

_EXPECTED = {"Single-TF": {"yes", "no"}, "Dual-TF": {"yes", "no"}, "AB-MCQ": {"a", "b"}}
"""Expected answers, lower case; that of a Score-MCQ is a remnant of an older scale and means nothing."""


class TaskData(BaseModel):
    """`data{}` of a case."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    task: int = Field(ge=1, description="Number of the task; the exclusion lists name tasks by it.")
    description: str = Field("", description="What the source shows; the grounding phrases of SRC are made from it.")
    categories: list[list[str]] = Field(
        default=[], description="Level 1, Level 2 and Level 3 of each category of the task, in this order."
    )
    excluded: list[str] | None = Field(
        None, description="Metrics that this task is excluded from. None: as the published lists say."
    )
    entities: list[str] | None = Field(
        None, description="Grounding phrases of what must stay, for SRC. None: not known."
    )
    missing: Literal["reference", "wrong"] | None = Field(
        None,
        description="What a question without an answer is, the same in all cases. None: as the profile says.",
    )
    sequential_of: str = Field(
        "", description="The system that made this edit in one pass, if this output was made edit by edit."
    )


class _Published(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class QuestionData(_Published):
    """One question as published."""

    id: str = Field(min_length=1)
    type: Literal["Single-TF", "Dual-TF", "AB-MCQ", "Score-MCQ"]
    dimension: str = ""
    question: str = Field(min_length=1)
    options: dict[str, str] | None = None
    expected_answer: str = ""
    difficulty: str | None = None


class CategoryData(_Published):
    """Which category the questions of a group belong to."""

    questions: list[str] = Field(default=[], alias="Question IDs")
    level1: str = Field("", alias="Level 1")
    level2: str = Field("", alias="Level 2")
    level3: str = Field("", alias="Level 3")


class GroupData(_Published):
    """One group as published; `category` is absent where nothing was edited."""

    target_element: str = ""
    description: str = ""
    questions: list[QuestionData]
    category: list[CategoryData] | None = None


class _Checklist(_Published):
    evaluation_groups: list[GroupData] = Field(min_length=1)


def evaluation_groups(checklist: Any) -> Any:
    """The groups, whether the checklist is the whole task object or its groups alone."""
    return checklist.get("evaluation_groups") if isinstance(checklist, Mapping) else checklist


def examine(case: Case) -> Iterable[Problem]:
    """What keeps a case from being judged by its checklist, or its judge from being compared with people.

    A case without a checklist is scored by the automated half only.
    """
    return [*_people(case.labels.get("answers")), *_judgeable(case.checklist)]


def _people(answers: Any) -> Iterator[Problem]:
    """What is wrong with people's answers (question -> answer), if there are any."""
    if answers is not None and not isinstance(answers, Mapping):
        yield Problem(0, "labels.answers", "an object of question and answer", quoted(answers))
    for name, answer in answers.items() if isinstance(answers, Mapping) else ():
        if not isinstance(answer, str | int | float | None):
            yield Problem(0, f"labels.answers.{shown(name)}", "text or a number", quoted(answer))


def _judgeable(checklist: Any) -> list[Problem]:
    if checklist is None:
        return []
    groups = evaluation_groups(checklist)
    tree = {"evaluation_groups": list(groups) if isinstance(groups, tuple) else groups}
    try:
        found = _Checklist.model_validate(tree)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        return [explained({**one, "loc": _within(one["loc"])}, 0, ()) for one in details]
    return list(_contradictions(found.evaluation_groups))


def prepare(cases: Sequence[Case], whole: Sequence[Case], facts: object) -> list[Case]:
    """The cases as they are. Raises UsageError where they do not agree about questions without an answer.

    The tables pool questions of all tasks, and a pool has one rule.
    """
    rules = sorted({str(case.data.get("missing") or "as the profile says") for case in whole})
    if len(rules) > 1:
        raise UsageError(f"data.missing: expected the same in all cases of a manifest, found {', '.join(rules)}")
    return list(cases)


def _within(place: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """evaluation_groups[0].questions -> checklist[0].questions"""
    return ("checklist", *place[1:])


def _contradictions(groups: list[GroupData]) -> Iterator[Problem]:
    seen: set[str] = set()
    for row, group in enumerate(groups):
        for column, question in enumerate(group.questions):
            place = f"checklist[{row}].questions[{column}]"
            if question.id in seen:
                yield Problem(0, f"{place}.id", "an id that no other question has", quoted(question.id))
            seen.add(question.id)
            yield from _answerable(question, place)
        for entry in group.category or []:
            own = {question.id for question in group.questions}
            for name in set(entry.questions) - own:
                yield Problem(0, f"checklist[{row}].category", "questions of this group", quoted(name))


def _answerable(question: QuestionData, place: str) -> Iterator[Problem]:
    allowed = _EXPECTED.get(question.type)
    if allowed and question.expected_answer.strip().lower() not in allowed:
        expected = " or ".join(sorted(word.capitalize() for word in allowed))
        yield Problem(0, f"{place}.expected_answer", expected, quoted(question.expected_answer))
    if question.type == "AB-MCQ" and set(question.options or ()) != {"A", "B"}:
        yield Problem(0, f"{place}.options", "the options A and B", quoted(",".join(question.options or ())))
