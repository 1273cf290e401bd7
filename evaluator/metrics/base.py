"""What a metric is: a pure function of features with its identity card.

A metric is one module that defines `METRIC`, one line in its suite's list, and its test. It never opens a file, runs a
model or draws a random number without a seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from evaluator.judge.route import Routed
from evaluator.judge.types import SEES, Modality, Question
from evaluator.schema import Case, Need


class Direction(StrEnum):
    """Which way is better."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"  # a fact, neither good nor bad


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a metric found: the value in its declared range, the raw figure behind it, and diagnostics."""

    value: float
    raw: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a metric asks a judge. `ask(case, **needs)` returns the questions; the needs are their evidence.

    A question that a judge may not perceive comes as `Routed`, with its substitute if the protocol tolerates one.

    `reads` names the fields of a case that the questions are made of, `prompts` the files that word them: both are in
    the fingerprint. `model` is a part of the served name (any case) of the only judge that may answer: a network that
    was trained for one question, and that no general judge replaces. `shows` is what that network must perceive.
    """

    ask: Callable[..., Sequence[Question | Routed]]
    reads: tuple[str, ...]
    prompts: tuple[str, ...]
    again: Callable[..., Sequence[Question | Routed]] | None = None
    """`again(case, answers, **needs)`: what to ask in view of all answers so far, until it returns nothing. Its answers
    come after the others, in the order in which they were asked for."""
    model: str = ""
    shows: frozenset[Modality] = SEES
    for_deaf: frozenset[str] = frozenset()
    """Names of needs that only stand in for sound: neither computed nor given where one judge sees and hears."""


@dataclass(frozen=True, slots=True)
class Unserved:
    """What arrives in the place of a need of `Metric.spares` that no model serves here."""

    message: str


@dataclass(frozen=True, slots=True)
class Metric:
    """Identity card and arithmetic of one metric.

    `compute` receives the needs by their names and returns an Outcome, or raises NotApplicable. A judged metric also
    receives `answers`, one per question in the order of the questions; metrics that share one `Judged` and the same
    needs share its answers. A metric that reads fields of the case (`reads`) also receives `case`.
    """

    id: str
    version: int  # raised when a value can change
    title: str  # what a table shows
    summary: str  # one sentence for people
    direction: Direction
    range: tuple[float | None, float | None]  # inclusive; None = unbounded
    unit: str  # "" for a plain ratio
    paper: str  # protocol and section that the definition comes from
    needs: Mapping[str, Need]
    compute: Callable[..., Outcome]
    judged: Judged | None = None
    reads: tuple[str, ...] = ()
    """Fields of the case that `compute` looks at; their content is in the fingerprint."""
    optional: frozenset[str] = frozenset()
    """Names of needs that arrive as None where they do not apply (a clip without sound, a case without a source)."""
    spares: frozenset[str] = frozenset()
    """Names of needs that only add evidence, and so are optional too: where no model serves them they arrive as
    `Unserved`, and `compute` says in its details what was left out."""
    needs_of: Callable[[Case], Mapping[str, Need]] | None = None
    """Needs that depend on the case (how many references it has), beside `needs`. Same case fields, same needs."""
    stands_in_for: Mapping[str, str] = field(default_factory=dict)
    """Capability -> published model that it stands in for in this metric, whichever model serves it."""

    instead: Metric | None = None
    """Measured in its place, under the same id, where no model serves a capability that it needs; it names in
    `stands_in_for` what it stands in for. With --require-reference that is an error."""

    unjudged: Metric | None = None
    """Measured in its place, under the same id, where nobody is there to answer its questions: for a metric that a
    judge only refines. Its record must say that nobody was asked."""

    def needs_for(self, case: Case) -> Mapping[str, Need]:
        """Everything that this metric needs of one case, by name."""
        return {**self.needs, **self.needs_of(case)} if self.needs_of else self.needs
