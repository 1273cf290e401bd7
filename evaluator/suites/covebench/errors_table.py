"""What goes wrong: counters of the error analysis.

    execution inadequacy   edits of which an execution question is wrong
    spatial entanglement   things that were to stay and got a grade of 5 or less
    physics, artifacts     issues that a judge found in the clip itself (`forensics`)

Counts grow with the number of clips, so each stands beside how many it was counted over. Source: CoVEBench 8.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from evaluator.schema import Score
from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench.forensics import ARTIFACTS, PHYSICS
from evaluator.suites.covebench.questions import Dimension, items_of
from evaluator.suites.covebench.rules import Missing, counted
from evaluator.suites.covebench.sheets import RULES, Sheet, Sheets, label, marks

ENTANGLED = 5.0
"""A grade up to this one says that the edit spilt over."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many of how many."""

    count: int
    of: int


def execution_inadequacy(sheets: Iterable[Sheet], missing: Missing) -> Count:
    """Edits with a wrong execution question, over edits with one that counts."""
    groups = [
        [
            counted(item, sheet.scores[item.id], missing)
            for item in group.items
            if item.dimension is Dimension.IFS and item.id in sheet.scores
        ]
        for sheet in sheets
        for group in sheet.groups
    ]
    known = [[value for value in values if value is not None] for values in groups]
    return Count(sum(0.0 in values for values in known), sum(bool(values) for values in known))


def spatial_entanglement(sheets: Iterable[Sheet], missing: Missing) -> Count:
    """Grades of at most ENTANGLED, over grades. An unanswered question is one only where missing is wrong."""
    grades = [
        counted(item, sheet.scores[item.id], missing)
        for sheet in sheets
        for item in items_of(sheet.groups)
        if item.dimension is Dimension.SEM and item.id in sheet.scores
    ]
    known = [grade for grade in grades if grade is not None]
    return Count(sum(grade <= ENTANGLED for grade in known), len(known))


def board(found: Sheets, scores: Sequence[Score], missing: Missing) -> Board:
    """The counters of every system."""
    rows = tuple(
        (
            label(name),
            *_pair(execution_inadequacy(own, missing)),
            *_pair(spatial_entanglement(own, missing)),
            *_issues(scores, name[0], PHYSICS.id),
            *_issues(scores, name[0], ARTIFACTS.id),
        )
        for name, own in found.items()
    )
    counters = ("execution inadequacy", "edits", "spatial entanglement", "things to keep")
    columns = ("system", *counters, "physics issues", "clips", "artifact issues", "clips ")
    notes = (
        f"Questions without an answer are {RULES[missing]}; entangled: a grade of {ENTANGLED:.0f} or less.",
        "The prompts of both forensic passes, and what they count as one issue, are ours.",
        *marks(found),
    )
    return Board("errors", "Error analysis (CoVEBench 8.1)", columns, rows, notes)


def _pair(found: Count) -> tuple[Cell, Cell]:
    return found.count, found.of


def _issues(scores: Sequence[Score], system: str, metric: str) -> tuple[Cell, Cell]:
    """Issues over all clips of a system that were looked at; None if none was."""
    values = [s.value for s in scores if s.system == system and s.metric == metric and s.value is not None]
    return (round(sum(values)) if values else None), len(values)
