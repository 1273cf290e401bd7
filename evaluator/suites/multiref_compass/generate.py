"""Checklists written by a judge (section 3.9): from prompt and metadata alone, one per sample, looked at before use.

A generator is a judged metric without evidence: its value is 1 if the checklist keeps every rule that a manifest's own
checklist has to keep (`checklist.examine_items`) and has an item of each kind that the router calls for, else 0. One
that breaks a rule goes back to the judge with what is wrong, a bounded number of times; what was refused stands in the
details. Items on exact lines, anatomy, entities and binding follow from the data and are not written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import orjson

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import examine_items
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.grading import legend
from evaluator.suites.multiref_compass.routing import not_routed

PROMPT = "multiref_checklist"
WRITTEN = ("VTF", "ATF", "TOF", "ESM", "SC")
READS = ("prompt", "data", "references")
TRIES = 3
FORM = "It was not one JSON object of exactly the form that is asked for, or it was too long."
MALFORMED = frozenset({Status.UNPARSED, Status.TRUNCATED, Status.JUDGE_MISSING})


def categories(case: Case) -> list[str]:
    """The kinds of items that the router calls for."""
    return [name for name in WRITTEN if not not_routed(name.lower(), case)]


def ask(case: Case, complaint: Mapping[str, str] | None = None) -> Sequence[Question]:
    """One question in words, the same for all systems of a sample.

    `complaint` says what was wrong with the last answer. Raises NotApplicable without a prompt.
    """
    if not case.prompt.strip():
        raise NotApplicable("not_applicable", "The sample has no prompt to make a checklist of.")
    data, wanted = of(case), categories(case)
    known = {name: value for name, value in data.facts.model_dump(exclude={"exact_lines"}).items() if value}
    told = {
        "prompt": data.whole_prompt(case.prompt),
        "entities": legend(case),
        "facts": "\n".join(f"{name}: {value}" for name, value in known.items()),
        "categories": ", ".join(wanted),
        **(complaint or {}),
    }
    asked = load(PROMPT).ask(f"{data.sample}/checklist", (), told)
    return [replace(asked, answer_schema=_narrowed(asked.answer_schema or {}, wanted))]


def again(tries: int, case: Case, answers: Sequence[Answer]) -> Sequence[Question]:
    """The question with what was wrong with the last answer; none if it was right, or the last that is allowed.

    A replay holds no answer of a wrong form: there the same next question is asked as after one.
    """
    last = answers[-1]
    if len(answers) >= tries or last.status not in {Status.OK, *MALFORMED}:
        return []
    if last.status is not Status.OK:
        return ask(case, {"problems": FORM})
    if wrong := list(broken(case, document(last))):
        return ask(case, {"rejected": orjson.dumps(last.value).decode(), "problems": "\n".join(wrong)})
    return []


def _narrowed(schema: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    """The answer schema for these kinds of items alone."""
    entries = schema["properties"]["items"]
    entry = entries["items"]
    names = {**entry["properties"], "category": {"enum": wanted}}
    return {**schema, "properties": {"items": {**entries, "items": {**entry, "properties": names}}}}


def document(answer: Answer) -> list[dict[str, Any]]:
    """A checklist as manifests hold it, items numbered per category in the order in which they were written."""
    found: list[dict[str, Any]] = []
    for entry in answer.value["items"]:
        number = 1 + sum(one["category"] == entry["category"] for one in found)
        said = {name: value for name, value in entry.items() if value}  # an empty sort is none
        found.append({"id": f"{entry['category'].lower()}{number}", **said})
    return found


def broken(case: Case, items: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Every rule that a checklist breaks, in words."""
    whole = replace(case, checklist=tuple(items))
    for problem in examine_items(whole, of(case)):
        yield f"{problem.field}: expected {problem.expected}, found {problem.found}"
    for name in sorted(set(categories(case)) - {item["category"] for item in items}):
        yield f"checklist: expected an item of {name}, found none"


def compute(case: Case, answers: Sequence[Answer]) -> Outcome:
    """1 with a checklist that keeps the rules, 0 without one; `rejected` in the details holds all others.

    Raises NotApplicable or AnswerError where the last question was not answered.
    """
    if answers[-1].status not in {Status.UNPARSED, Status.TRUNCATED}:
        accepted(answers[-1])
    *_, (final, wrong) = tried = [_tried(case, answer) for answer in answers]
    rejected = [
        {"reasons": reasons, "document": items, "ledger_key": answer.key}
        for (items, reasons), answer in zip(tried, answers, strict=True)
        if reasons
    ]
    details = {"document": None if wrong else final, "findings": wrong, "tries": len(answers), "rejected": rejected}
    return Outcome(float(not wrong), details={**details, "ledger_key": answers[-1].key})


def _tried(case: Case, answer: Answer) -> tuple[list[dict[str, Any]] | None, list[str]]:
    """(the checklist if the answer had the form of one, what is wrong with it)."""
    if answer.status is not Status.OK:
        return None, [f"{answer.status}: {answer.message}"]
    items = document(answer)
    return items, list(broken(case, items))


def generator(tries: int = TRIES) -> Metric:
    """What makes a checklist; the judge has so many tries."""
    return Metric(
        id="checklist",
        version=1,
        title="Checklist",
        summary="The questions by which the outputs of a sample will be graded.",
        direction=Direction.NONE,
        range=(0.0, 1.0),
        unit="",
        paper="MultiRef-Compass, spec section 3.9",
        needs={},
        compute=compute,
        judged=Judged(ask, READS, (PROMPT,), again=partial(again, tries)),
        reads=READS,
    )
