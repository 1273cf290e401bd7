"""BC, binding correctness (section 3.5): one grade from the list of errors that a judge finds.

The protocol needs the list, so that the answer is written in every profile. On B1, where one identity has several
views, only duplicates and drift count: there is nobody else to be confused with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.data import of
from evaluator.suites.multiref_compass.grading import COMPARES, READS, SEES, evidence, legend, needs_of

PROMPT = "multiref_binding"
ALL = "All errors of the list count."
IDENTITY = "Only duplicate and drift count: all references show one identity."


def aspect(case: Case) -> str:
    """Which errors count on the case's board."""
    return IDENTITY if of(case).board == "B1" else ALL


def ask(case: Case, **media: Any) -> Sequence[Question]:
    """One question with all references."""
    parts = evidence(case, Item("binding", ""), media)
    told = {"prompt": case.prompt, "entities": legend(case), "aspect": aspect(case)}
    return [load(PROMPT).ask(f"{case.id}/bc/binding", parts, told)]


def compute(answers: Sequence[Answer], **media: Any) -> Outcome:
    """1..5. Details list the errors."""
    answer = accepted(answers[0])
    details = {"errors": answer.value["errors"], "ledger_key": answer.key, "evidence": "native"}
    return Outcome(float(answer.value["score"]), details=details)


METRIC = Metric(
    id="bc",
    version=1,
    title="Binding correctness (BC)",
    summary="A judge's grade from the errors it finds: swapped, merged, missing or doubled entities, wrong actors.",
    direction=Direction.HIGHER,
    range=(1.0, 5.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.5",
    needs={},
    needs_of=needs_of(SEES, COMPARES),
    compute=compute,
    judged=Judged(ask, READS, (PROMPT,)),
)
