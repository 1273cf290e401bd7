"""What a suite is: one protocol's metrics, which of them apply to a case, what it expects of a case, what it prints.

A suite is one package under `evaluator/suites/` that defines `SUITE`. It knows its paper; it never touches media.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from evaluator.judge.session import JudgeSession
from evaluator.manifest.problems import Problem
from evaluator.media.types import F32, ClipInfo
from evaluator.metrics.base import Metric
from evaluator.schema import Case, Score
from evaluator.suites.board import Board
from evaluator.suites.bounds import Bound
from evaluator.suites.choices import Choice


def all_metrics(suite: Suite, case: Case, profile: str) -> tuple[Metric, ...]:
    """Every metric of the suite applies to every case."""
    return suite.metrics


def as_it_is(metric: Metric, case: Case) -> Metric:
    """What applies to a case is computed as its profile defines it."""
    return metric


def no_problems(case: Case) -> Iterable[Problem]:
    """The schema says everything that there is to say about a case."""
    return ()


def no_boards(cases: Sequence[Case], scores: Sequence[Score]) -> Sequence[Board]:
    """The means per system are all there is to print."""
    return ()


Facts = Callable[[Path], ClipInfo | None]
"""The facts of a clip from its packet table; None for a file that cannot be read. Each file is asked once."""


def as_they_are(cases: Sequence[Case], whole: Sequence[Case], facts: Facts) -> list[Case]:
    """Nothing about a case depends on other cases."""
    return list(cases)


@dataclass(frozen=True, slots=True)
class Imported:
    """Manifest lines made from the layout in which a benchmark is published, and everything that was wrong with it.

    Paths in the lines are relative to the root that was read. A case with a problem has no line.
    """

    lines: tuple[Mapping[str, Any], ...]
    problems: tuple[str, ...] = ()  # "place: field: expected ..., found ...; what to do"


@dataclass(frozen=True, slots=True)
class Rejudged:
    """Records after a second look at the grades of all systems together, and a line per item for the log."""

    scores: tuple[Score, ...]
    log: tuple[Mapping[str, Any], ...]


Importer = Callable[[Path, str, Mapping[str, str]], Imported]
"""(root, system, further options by name) -> manifest lines. Options it does not know are a UsageError."""


@dataclass(frozen=True, slots=True)
class Suite:
    """One protocol. `active` routes a case to the metrics that its branch or category calls for."""

    id: str
    title: str
    paper: str
    metrics: tuple[Metric, ...]
    profiles: tuple[str, ...] = ("paper",)
    variants: Mapping[str, Mapping[str, Metric]] = field(default_factory=dict)
    """Profile -> metric id -> the metric as that profile defines it; what is not named is as in `metrics`."""
    data: type[BaseModel] | None = None
    active: Callable[[Suite, Case, str], tuple[Metric, ...]] = all_metrics
    route: Callable[[Metric, Case], Metric] = as_it_is
    """A metric of `active`, as its profile defines it, or one in its place that says why this case has no value."""
    examine: Callable[[Case], Iterable[Problem]] = no_problems
    """What is wrong with a case beyond the schema (its checklist, its branch); the line is filled in by the caller."""
    importer: Importer | None = None
    prepare: Callable[[Sequence[Case], Sequence[Case], Facts], list[Case]] = as_they_are
    """The cases of a run, given all cases of the manifest: what outputs of several systems have in common (a duration
    to which all are cut) goes into `Case.data` before anything is planned, the same for every shard."""
    rejudge: Callable[[Sequence[Case], Sequence[Score], JudgeSession], Rejudged] | None = None
    """A second look at a finished run (`evaluator rejudge`)."""
    bounds: tuple[Bound, ...] = ()
    """What `evaluator filter` asks of the measurements of profile `curation`."""
    corpora: Callable[[Mapping[str, Sequence[Case]], Callable[[Sequence[str]], F32] | None], Board | None] | None = None
    """What `evaluator filter` tells of the instructions of all cases and of those that it kept, by these names; with a
    sentence embedding (texts -> unit vectors [N, D])."""
    case_needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Capability -> metrics that ask for it in `needs_of`, or in another profile only: `evaluator doctor` without a
    manifest goes by it."""
    on_request: Mapping[str, str] = field(default_factory=dict)
    """Capability -> what asks for it and what for: nothing does unless a person turns it on."""
    choices: tuple[Choice, ...] = ()
    """What the paper leaves open and how it is decided here."""
    boards: Callable[[Sequence[Case], Sequence[Score]], Sequence[Board]] = no_boards
    """The protocol's tables from the records of one run (all of one profile)."""

    def metric(self, metric_id: str) -> Metric:
        """The metric of that id. Raises KeyError."""
        return {metric.id: metric for metric in self.metrics}[metric_id]

    def metrics_of(self, case: Case, profile: str) -> tuple[Metric, ...]:
        """What is scored of one case in one profile."""
        own = self.variants.get(profile, {})
        return tuple(self.route(own.get(metric.id, metric), case) for metric in self.active(self, case, profile))
