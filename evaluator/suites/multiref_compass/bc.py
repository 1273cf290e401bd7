"""BC, binding correctness (section 3.5): one grade from the list of errors that a judge finds.

The protocol needs the list, so that the answer is written in every profile. On B1, where one identity has several
views, only duplicates and drift count: there is nobody else to be confused with. An answer whose grade does not follow
from its list contradicts itself: it is asked for once more and then refused. Profile `compat` grades item by item
(`bc_items`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.judge.prompts import LETTERS, load
from evaluator.judge.types import Answer, Question
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.metrics.second_chance import once_more, settling
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.grading import COMPARES, READS, SEES, evidence, legend, needs_of

PROMPT = "multiref_binding"
KINDS = ("identity_swap", "merge", "attribute_transfer", "wrong_actor", "missing", "duplicate", "drift")
OF_ONE = ("duplicate", "drift")
"""What can go wrong with a single identity."""
ALL = "All errors of the list count."
IDENTITY = "Only duplicate and drift count: all references show one identity."


def kinds(case: Case) -> tuple[str, ...]:
    """Which errors count on the case's board."""
    return OF_ONE if of(case).board == "B1" else KINDS


def ask(case: Case, **media: Any) -> Sequence[Question]:
    """One question with all references. Its answer can name no other entity and no error that does not count."""
    parts = evidence(case, Item("binding", ""), media)
    aspect = IDENTITY if kinds(case) == OF_ONE else ALL
    told = {"prompt": case.prompt, "entities": legend(case), "aspect": aspect}
    asked = load(PROMPT).ask(f"{case.id}/bc/binding", parts, told)
    return [replace(asked, answer_schema=_narrowed(asked.answer_schema or {}, case))]


def _narrowed(schema: Mapping[str, Any], case: Case) -> dict[str, Any]:
    """The answer schema for this case's entities and kinds of errors alone."""
    errors = schema["properties"]["errors"]
    entry = errors["items"]
    letters = {"enum": list(LETTERS[: len(of(case).entities)])}
    concerned = {**entry["properties"]["entities"], "items": letters}
    names = {**entry["properties"], "kind": {"enum": list(kinds(case))}, "entities": concerned}
    return {
        **schema,
        "properties": {**schema["properties"], "errors": {**errors, "items": {**entry, "properties": names}}},
    }


def flaw(case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    """In what a grade does not follow from its list; empty if it does."""
    errors, score = answer.value["errors"], answer.value["score"]
    least, most = grades([bool(error["minor"]) for error in errors])
    if least <= score <= most:
        return ""
    clear = sum(not error["minor"] for error in errors)
    listed = f"{clear} clear and {len(errors) - clear} minor errors"
    return f"the list holds {listed}, which is a score from {least} to {most}, and the score is {score}"


def grades(minor: Sequence[bool]) -> tuple[int, int]:
    """(least, most) grade that a list of errors allows, given which of them are minor."""
    if not minor:
        return 5, 5
    if len(minor) == 1:
        return (4, 4) if minor[0] else (1, 3)
    return 1, 2


def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
    """1..5. Details list the errors with the entities that they concern."""
    answer = accepted(answers[0])
    entities = dict(zip(LETTERS, (entity.entity_id for entity in of(case).entities), strict=False))
    errors = [
        {**error, "entities": [entities[letter] for letter in error["entities"]]} for error in answer.value["errors"]
    ]
    return Outcome(
        float(answer.value["score"]), details={"errors": errors, "ledger_key": answer.key, "evidence": "native"}
    )


METRIC = Metric(
    id="bc",
    version=2,
    title="Binding correctness (BC)",
    summary="A judge's grade from the errors it finds: swapped, merged, missing or doubled entities, wrong actors.",
    direction=Direction.HIGHER,
    range=(1.0, 5.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.5",
    needs={},
    needs_of=needs_of(SEES, COMPARES),
    compute=settling(compute, flaw),
    judged=once_more(Judged(ask, READS, (PROMPT,)), flaw),
    reads=READS,
)
