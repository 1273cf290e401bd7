"""Checklists written by a judge (section 3.9): from prompt and metadata alone, one per sample, looked at before use.

A generator is a judged metric without evidence: its value is 1 if the checklist keeps every rule that a manifest's own
checklist has to keep (`checklist.examine_items`) and has an item of each kind that the router calls for, else 0. One
that breaks a rule goes back to the judge with what is wrong, a bounded number of times; what was refused stands in the
details. Items on exact lines, anatomy, entities and binding follow from the data and are not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import load
from evaluator.judge.types import Question
from evaluator.metrics.base import Direction, Judged, Metric
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import examine_items
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.grading import legend
from evaluator.suites.multiref_compass.routing import not_routed
from evaluator.suites.repair import TRIES, Remark, Repair

PROMPT = "multiref_checklist"
WRITTEN = ("VTF", "ATF", "TOF", "ESM", "SC")
READS = ("prompt", "data", "references")


def categories(case: Case) -> list[str]:
    """The kinds of items that the router calls for."""
    return [name for name in WRITTEN if not not_routed(name.lower(), case)]


def ask(case: Case, complaint: Mapping[str, str]) -> Sequence[Question]:
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
        **complaint,
    }
    asked = load(PROMPT).ask(f"{data.sample}/checklist", (), told)
    return [replace(asked, answer_schema=_narrowed(asked.answer_schema or {}, wanted))]


def _narrowed(schema: Mapping[str, Any], wanted: list[str]) -> dict[str, Any]:
    """The answer schema for these kinds of items alone."""
    entries = schema["properties"]["items"]
    entry = entries["items"]
    names = {**entry["properties"], "category": {"enum": wanted}}
    return {**schema, "properties": {"items": {**entries, "items": {**entry, "properties": names}}}}


def document(_case: Case, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A checklist as manifests hold it, items numbered per category in the order in which they were written."""
    found: list[dict[str, Any]] = []
    for entry in answer["items"]:
        number = 1 + sum(one["category"] == entry["category"] for one in found)
        said = {name: value for name, value in entry.items() if value}  # an empty sort is none
        found.append({"id": f"{entry['category'].lower()}{number}", **said})
    return found


def broken(case: Case, items: Sequence[Mapping[str, Any]]) -> Iterator[Remark]:
    """Every rule that a checklist breaks."""
    whole = replace(case, checklist=tuple(items))
    for problem in examine_items(whole, of(case)):
        yield Remark(f"{problem.field}: expected {problem.expected}, found {problem.found}", wrong=True)
    for name in sorted(set(categories(case)) - {item["category"] for item in items}):
        yield Remark(f"checklist: expected an item of {name}, found none", wrong=True)


def generator(tries: int = TRIES) -> Metric:
    """What makes a checklist; the judge has so many tries."""
    loop = Repair(ask, document, lambda case, made: list(broken(case, made)), tries)
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
        compute=loop.outcome,
        judged=Judged(loop.first, READS, (PROMPT,), again=loop.again),
        reads=READS,
    )
