"""From the records of a run back to scored questions: what all tables of the judge are made from.

A sheet is one task of one system. Of a task whose judge failed on everything only the failure is recorded; its
questions are on the sheet as unanswered, so that a failing judge cannot improve a figure by losing the bad tasks. A
task that nobody judged (no judge, no output) has no sheet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from evaluator.schema import Case, Score, Status
from evaluator.suites.covebench.questions import Dimension, Group, groups_of, items_of
from evaluator.suites.covebench.rules import UNANSWERED, Missing, missing_rule
from evaluator.suites.covebench.tally import Task

ASKS_ABOUT = {
    "ifs": frozenset({Dimension.IFS}),
    "vrs": frozenset({Dimension.VRS}),
    "sem": frozenset({Dimension.SEM}),
    "uas": frozenset({Dimension.IFS, Dimension.VRS}),
}
"""Metric -> the questions that its record holds."""

Name = tuple[str, str]
"""(system, what its judge stands in for; empty for a judge): figures of the two kinds never share a row."""


@dataclass(slots=True)
class Sheet:
    """One task of one system with the scores of its questions."""

    case: Case
    groups: tuple[Group, ...]
    scores: dict[str, float | None] = field(default_factory=dict)
    frames: int | None = None  # of the output
    seconds: float | None = None  # of the source

    @property
    def task(self) -> Task:
        """What `tally` takes."""
        return self.groups, self.scores


Sheets = Mapping[Name, Sequence[Sheet]]


def sheets(cases: Iterable[Case], scores: Iterable[Score]) -> dict[Name, list[Sheet]]:
    """The sheets of every system, in the order of the records."""
    known = {case.id: case for case in cases}
    found: dict[Name, dict[str, Sheet]] = {}
    for score in scores:
        filled = dict(_filled(known[score.case], score)) if score.metric in ASKS_ABOUT else {}
        if filled:
            case = known[score.case]
            mark = next((model.stands_in_for for model in score.models if model.stands_in_for), "")
            own = found.setdefault((score.system, mark), {})
            sheet = own.setdefault(case.id, Sheet(case, groups_of(case)))
            sheet.scores.update(filled)
            sheet.frames = score.details.get("output_frames", sheet.frames)
            sheet.seconds = score.details.get("source_seconds", sheet.seconds)
    return {name: list(own.values()) for name, own in found.items()}


def _filled(case: Case, score: Score) -> Iterator[tuple[str, float | None]]:
    """(question, its score) as one record tells."""
    if score.status is Status.OK:
        yield from ((entry["id"], entry["score"]) for entry in score.details.get("questions", ()))
        for edit in score.details.get("edits", ()):
            yield from edit["scores"].items()
    elif score.status is Status.FAILED and score.reason is not None and score.reason.code == UNANSWERED:
        about = ASKS_ABOUT[score.metric]
        yield from ((item.id, None) for item in items_of(groups_of(case)) if item.dimension in about)


def tasks(chosen: Iterable[Sheet]) -> list[Task]:
    """What `tally` takes, of several sheets."""
    return [sheet.task for sheet in chosen]


def label(name: Name) -> str:
    """A system as tables name it; `*` marks a judge that is none."""
    system, mark = name
    return f"{system or '(no name)'}{' *' if mark else ''}"


def marks(found: Sheets) -> tuple[str, ...]:
    """Notes about judges that stand in for others."""
    return tuple(
        f"* the answers stand in for those of {mark}" for mark in dict.fromkeys(mark for _, mark in found if mark)
    )


def rule(profile: str, cases: Sequence[Case]) -> Missing:
    """What a question without an answer counts as in a run: all its cases say the same, or the profile does."""
    default: Missing = "reference" if profile == "compat" else "wrong"
    return missing_rule(cases[0], default) if cases else default


RULES: Mapping[Missing, str] = {"wrong": "counted as wrong", "reference": "left out"}
"""The rules in the words of tables."""
