"""One more try for a written answer that cannot be used: the judge is told so and asked again, once.

AVENUE, section 2: one retry, then an error. An answer cannot be used if it has not the form that was asked for, or if
it contradicts itself (`Flaw`). What the judge is told follows from the answer alone and never from a parser's words:
a ledger holds no unusable answer, so that a replay has to ask the same second question without having seen the first
answer. What comes second is final. Knows no prompt and no suite.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status, TextPart
from evaluator.metrics.base import Judged, Outcome
from evaluator.schema import Case

Flaw = Callable[[Case, Answer, Mapping[str, Any]], str]
"""(case, an answer of the right form, the evidence) -> in what it contradicts itself; empty for nothing."""

COMPLAINT = "complaint"
"""Name of the data block that tells the judge what was wrong."""
FORM = "An earlier answer was refused: it was not one JSON object of exactly the form that is asked for, or too long."
_MALFORMED = frozenset({Status.UNPARSED, Status.TRUNCATED, Status.JUDGE_MISSING})
"""JUDGE_MISSING: a replay, in which an unusable first answer is not on record."""


def none(case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    """Whatever has the right form will do."""
    return ""


def once_more(judged: Judged, flaw: Flaw = none) -> Judged:
    """The same questions, with a second try for those whose answer cannot be used."""
    return replace(judged, again=partial(_again, judged.ask, flaw))


def settling(compute: Callable[..., Outcome], flaw: Flaw = none, *, refuse: bool = True) -> Callable[..., Outcome]:
    """`compute` on one answer per question: the second where there was one. Its metric must read something of a case.

    An answer that contradicts itself for good is unparsed; with `refuse=False`, `compute` takes what can be used of it.
    Details say how many were asked again.
    """
    return partial(_settled, compute, flaw, refuse)


def _again(
    ask: Callable[..., Sequence[Question | Routed]], flaw: Flaw, case: Case, answers: Sequence[Answer], **media: Any
) -> list[Question | Routed]:
    complaints = [_complaint(flaw, case, answer, media) for answer in answers]
    if not any(complaints):
        return []
    questions = ask(case, **media)
    if len(questions) < len(answers):  # these are the answers to what was asked again
        return []
    return [corrected(one, told) for one, told in zip(questions, complaints, strict=True) if told]


def corrected(question: Question | Routed, complaint: str) -> Question | Routed:
    """The question with what was wrong before its last words. Raises ValueError for one with a substitute."""
    if isinstance(question, Routed):
        raise ValueError(f"{question.native.item}: a question with a substitute has no second try")
    *shown, closing = question.parts
    return replace(question, parts=(*shown, TextPart(complaint, COMPLAINT, untrusted=True), closing))


def _settled(
    compute: Callable[..., Outcome],
    flaw: Flaw,
    refuse: bool,
    case: Case,
    answers: Sequence[Answer],
    **media: Any,
) -> Outcome:
    complaints = [bool(_complaint(flaw, case, answer, media)) for answer in answers]
    count = next(n for n in range(len(answers) + 1) if n + sum(complaints[:n]) == len(answers))
    second = iter(answers[count:])
    final = [next(second) if wrong else answer for answer, wrong in zip(answers[:count], complaints, strict=False)]
    kept = [_usable(flaw, case, answer, media) for answer in final] if refuse else final
    found = compute(case=case, answers=kept, **media)
    return replace(found, details={**found.details, "asked_again": sum(complaints[:count])})


def _usable(flaw: Flaw, case: Case, answer: Answer, media: Mapping[str, Any]) -> Answer:
    told = flaw(case, answer, media) if answer.status is Status.OK else ""
    return Answer(Status.UNPARSED, answer.key, message=f"contradicts itself: {told}") if told else answer


def _complaint(flaw: Flaw, case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    if answer.status in _MALFORMED:
        return FORM
    told = flaw(case, answer, media) if answer.status is Status.OK else ""
    return f"An earlier answer was refused: {told}." if told else ""
