"""The two sides of a comparison: records by (suite, metric, unit), where a unit is what both sides have in common.

Between runs a unit is a case. Between the systems of one run a unit is a task: what the systems were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluator.errors import UsageError
from evaluator.report.runs import Run
from evaluator.report.tasks import Task
from evaluator.schema import Score, Status

Unit = tuple[str, str, str]
"""(suite, metric, case id or task key)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What one side has for a unit: one record, or those of all outputs that a system made for the task."""

    scores: tuple[Score, ...]

    @property
    def value(self) -> float | None:
        """Mean over the records with a value; None without any."""
        values = [score.value for score in self.scores if score.value is not None]
        return fmean(values) if values else None

    @property
    def status(self) -> Status:
        """ok if there is a value, else failed if anything failed."""
        found = {score.status for score in self.scores}
        return next(status for status in (Status.OK, Status.FAILED, Status.SKIPPED) if status in found)

    @property
    def fingerprints(self) -> tuple[str, ...]:
        """What the records were computed from."""
        return tuple(score.fingerprint for score in self.scores)

    @property
    def case(self) -> str:
        """The case to look at."""
        return self.scores[0].case


@dataclass(frozen=True, slots=True)
class Side:
    """One run, or one system of a run."""

    name: str
    header: Mapping[str, Any]
    entries: Mapping[Unit, Entry]


def sides_by_run(runs: Sequence[Run]) -> list[Side]:
    """A side per run, units are cases. UsageError if a later run shares no case with the first."""
    found = [
        Side(run.name, run.header, {(s.suite, s.metric, s.case): Entry((s,)) for s in run.scores.values()})
        for run in runs
    ]
    for side in found[1:]:
        if not {unit[2] for unit in side.entries} & {unit[2] for unit in found[0].entries}:
            raise UsageError(
                f"{found[0].name} and {side.name} have no case id in common; systems that were scored in one run are "
                "compared with --by system"
            )
    return found


def sides_by_system(run: Run, tasks: Mapping[str, Task], baseline: str | None = None) -> list[Side]:
    """A side per system of a run, `baseline` first, else in order of appearance; units are tasks.

    UsageError if the run has one system only, not that baseline, or a case whose task is not known.
    """
    systems = dict.fromkeys(score.system for score in run.scores.values())
    if len(systems) < 2:
        raise UsageError(f"{run.name}: all cases are of one system ({next(iter(systems), '')!r}); nothing to compare")
    if baseline is not None and baseline not in systems:
        raise UsageError(f"--baseline {baseline}: no such system in {run.name}; there are {', '.join(systems)}")
    sides: dict[str, dict[Unit, tuple[Score, ...]]] = {} if baseline is None else {baseline: {}}
    for score in run.scores.values():
        unit = (score.suite, score.metric, _key(run, score.case, tasks))
        entries = sides.setdefault(score.system, {})
        entries[unit] = (*entries.get(unit, ()), score)
    return [
        Side(name or "(no name)", run.header, {unit: Entry(scores) for unit, scores in entries.items()})
        for name, entries in sides.items()
    ]


def _key(run: Run, case: str, tasks: Mapping[str, Task]) -> str:
    if case not in tasks:
        path = run.header["manifest"]["path"]
        raise UsageError(
            f"{run.name}: what case {case!r} was about stands in the manifest ({path}), which is not there or has "
            "changed since; name it with --manifest"
        )
    if not tasks[case].key:
        raise UsageError(
            f"{run.name}: case {case!r} has no source, prompt, references or shots in the manifest, so that outputs of "
            "other systems cannot be matched with it"
        )
    return tasks[case].key
