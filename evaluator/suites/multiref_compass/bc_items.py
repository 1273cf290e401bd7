"""BC in profile `compat`: every item graded in one written answer, in the form of section 3.9.

Answers are `{"id", "score", "evidence", "t"}`, the value is the mean of the scores. Items are those of category BC in
the checklist, else one per kind of error that counts on the board. Checked before it counts: every item once, whole
scores from 1 to 5, times that rise and lie within the clip. With evidence in words, rejudging can compare systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Judged, Outcome
from evaluator.metrics.second_chance import once_more, settling
from evaluator.schema import Case
from evaluator.suites.multiref_compass import bc
from evaluator.suites.multiref_compass.checklist import Item, items
from evaluator.suites.multiref_compass.grading import READS, evidence, legend

PROMPT = "multiref_binding_items"
RUBRIC = "5: no such error. 4: a minor one. 3: one clear error. 2: several. 1: identities or roles are lost."
LATE = 0.5
"""Seconds after the end of a clip that a judge's time may say: it sees sampled frames."""
QUESTIONS = {
    "identity_swap": "Identity swap: does anything have the looks of another reference?",
    "merge": "Merge: did two references become one?",
    "attribute_transfer": "Attribute transfer: did a garment, colour or mark go from one reference to another?",
    "wrong_actor": "Wrong actor: is an action done by another than the prompt says?",
    "missing": "Missing: is any referenced entity absent?",
    "duplicate": "Duplicate: is any referenced entity there more than once?",
    "drift": "Drift: does an entity turn into somebody or something else over time?",
}


def graded(case: Case) -> tuple[Item, ...]:
    """The checklist's items, else one per kind of error."""
    return items(case, "BC") or tuple(Item(kind, QUESTIONS[kind]) for kind in bc.kinds(case))


def numbers(case: Case) -> dict[str, Item]:
    """Number in the question -> item."""
    return {str(place): item for place, item in enumerate(graded(case), 1)}


def ask(case: Case, **media: Any) -> Sequence[Question]:
    """One question with all references and all items."""
    parts = evidence(case, Item("binding", ""), media)
    listed = "\n".join(f"{number}: {item.question}" for number, item in numbers(case).items())
    told = {"prompt": case.prompt, "entities": legend(case), "items": listed}
    asked = load(PROMPT).ask(f"{case.id}/bc/items", parts, told)
    return [replace(asked, answer_schema=_narrowed(asked.answer_schema or {}, list(numbers(case))))]


def _narrowed(schema: Mapping[str, Any], ids: list[str]) -> dict[str, Any]:
    """The answer schema for these items alone."""
    entries = schema["properties"]["items"]
    entry = entries["items"]
    names = {**entry["properties"], "id": {"enum": ids}}
    fitted = {**entries, "minItems": len(ids), "maxItems": len(ids), "items": {**entry, "properties": names}}
    return {**schema, "properties": {"items": fitted}}


def flaw(case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    """What the schema cannot say: an item that is graded twice, and so another one never; a time that cannot be."""
    entries = answer.value["items"]
    end = media["frames"].clip.duration + LATE
    counts = Counter(entry["id"] for entry in entries)
    twice = [f"item {name} is there {count} times" for name, count in counts.items() if count > 1]
    wrong = [
        f"item {entry['id']} is seen from {entry['t'][0]:g} s to {entry['t'][1]:g} s"
        for entry in entries
        if entry["t"] is not None and not 0 <= entry["t"][0] <= entry["t"][1] <= end
    ]
    return "; ".join([*twice, *wrong])


def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
    """Mean score, 1..5. Details: every item with its score, the evidence in words and the time."""
    answer = accepted(answers[0])
    said = {entry["id"]: entry for entry in answer.value["items"]}
    found = [
        {
            "id": item.id,
            "question": item.question,
            "status": str(answer.status),
            "grade": float(said[number]["score"]),
            "observation": said[number]["evidence"],
            "t": said[number]["t"],
            "ledger_key": answer.key,
        }
        for number, item in numbers(case).items()
    ]
    value = sum(float(entry["score"]) for entry in said.values()) / len(said)
    details = {"items": found, "answered": len(found), "asked": len(found), "evidence": "native"}
    return Outcome(value, details=details)


COMPAT = replace(
    bc.METRIC,
    summary="Mean of a judge's grades of each kind of error, or of the checklist's items, in one written answer.",
    compute=settling(compute, flaw),
    judged=once_more(Judged(ask, READS, (PROMPT,)), flaw),
)
