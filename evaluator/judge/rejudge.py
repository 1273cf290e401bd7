"""A second look at grades: the judge sees what several outputs got for the same item and corrects clear slips only.

MultiRef-Compass, section 4 ("horizontal" rejudging); the limits are our reading of it: a correction needs a reason,
moves a grade by at most `FURTHEST`, stays on the scale, and names a clip that was shown, once. What does not hold is
rejected and kept with the cause, so that nothing happens in silence. Both values of every grade are kept.

The grade of one system now depends on which others stood beside it: whoever aggregates must name the set.
Systems are shown under letters in the order of their names, without the names: fame must not move a grade.
Knows the vocabulary only; which items are compared, and what grades mean, is the suite's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluator.judge import prompts
from evaluator.judge.types import Answer, Part, Question, Status

LOWEST, HIGHEST = 1, 5
FURTHEST = 2
DOUBTFUL = 3
"""A grade below this is worth a second look even if all systems got it: a literal reading hits everybody alike."""


@dataclass(frozen=True, slots=True)
class Grade:
    """What one system's output got for the item, and what the judge observed."""

    system: str
    score: int
    observation: str


@dataclass(frozen=True, slots=True)
class Regrade:
    """A grade before and after. `reason` says why it changed; `rejected` why a proposed change was not made."""

    system: str
    before: int
    after: int
    reason: str = ""
    rejected: str = ""


def worth_it(grades: Sequence[Grade]) -> bool:
    """True if there is something to compare: at least two systems, and unequal or doubtful grades."""
    scores = [grade.score for grade in grades]
    return len(scores) >= 2 and (max(scores) > min(scores) or min(scores) < DOUBTFUL)


def ask(
    item: str,
    question: str,
    grades: Sequence[Grade],
    rubric: str | None = None,
    evidence: Mapping[str, Sequence[Part]] | None = None,
) -> Question:
    """The second look at 2 to 13 grades of the same `question`. `evidence` by system is shown again if it is given.

    Raises ValueError for a system that is named twice.
    """
    ordered = _ordered(grades)
    shown = [
        replace(part, name=f"clip {letter} {part.name}".rstrip())
        for letter, grade in ordered.items()
        for part in (evidence or {}).get(grade.system, ())
    ]
    data: dict[str, str | Sequence[str]] = {
        "question": question,
        "answer": [_shown(grade) for grade in ordered.values()],
    }
    asked = prompts.load("rejudge").ask(item, shown, {**data, **({"rubric": rubric} if rubric else {})})
    return replace(asked, answer_schema=_only(asked.answer_schema, list(ordered)))


def apply(grades: Sequence[Grade], answer: Answer) -> list[Regrade]:
    """Each grade with what the second look made of it, in the order given.

    An answer that is not ok changes nothing: every grade stays, with the status as the cause.
    """
    if answer.status is not Status.OK:
        why = f"{answer.status}: {answer.message}"
        return [Regrade(grade.system, grade.score, grade.score, rejected=why) for grade in grades]
    letters = {grade.system: letter for letter, grade in _ordered(grades).items()}
    proposed: dict[str, list[Mapping[str, Any]]] = {}
    for correction in answer.value["corrections"]:
        proposed.setdefault(correction["clip"], []).append(correction)
    return [_regrade(grade, proposed.get(letters[grade.system], [])) for grade in grades]


def _regrade(grade: Grade, proposals: Sequence[Mapping[str, Any]]) -> Regrade:
    if not proposals:
        return Regrade(grade.system, grade.score, grade.score)
    score, reason = proposals[0]["score"], proposals[0]["reason"].strip()
    if problem := _problem(grade.score, score, reason, len(proposals)):
        return Regrade(grade.system, grade.score, grade.score, reason, problem)
    return Regrade(grade.system, grade.score, score, reason)


def _problem(before: int, after: int, reason: str, proposals: int) -> str:
    """Why a correction is not made; empty if it is."""
    if proposals > 1:
        return f"{proposals} corrections of the same grade"
    if not reason:
        return "no reason was given"
    if not LOWEST <= after <= HIGHEST:
        return f"{after} is not on the scale from {LOWEST} to {HIGHEST}"
    if after == before:
        return "the grade is the same"
    if abs(after - before) > FURTHEST:
        return f"a change from {before} to {after} is more than {FURTHEST}"
    return ""


def _ordered(grades: Sequence[Grade]) -> dict[str, Grade]:
    """Letter -> grade, by the names of the systems: the same set gives the same question, however it was gathered."""
    names = [grade.system for grade in grades]
    if len(set(names)) < len(names):
        raise ValueError(f"each system once, found {names}")
    return dict(zip(prompts.LETTERS, sorted(grades, key=lambda grade: grade.system), strict=False))


def _shown(grade: Grade) -> str:
    return f"Grade: {grade.score}. Observed: {grade.observation}"


def _only(schema: Mapping[str, Any] | None, letters: list[str]) -> dict[str, Any]:
    """The answer schema for these letters alone."""
    if schema is None:
        raise ValueError("prompt rejudge has no schema")
    entries = schema["properties"]["corrections"]
    entry = entries["items"]
    names = {**entry["properties"], "clip": {"enum": letters}}
    narrowed = {**entries, "maxItems": len(letters), "items": {**entry, "properties": names}}
    return {**schema, "properties": {"corrections": narrowed}}
