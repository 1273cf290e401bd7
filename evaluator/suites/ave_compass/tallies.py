"""Counts behind the objective means: per system and metric, what has a number, what has none, and why (spec 5).

A mean is over cases with a number; what is missing is never turned into zero inside it. Beside it stands the same mean
with every failure as zero, because a system whose outputs fail must not look better for it. Cases that nothing here
could measure (no model is mounted) are no failures of the system. Stand-ins are counted apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.data import Layout
from evaluator.suites.ave_compass.routing import ROUTING

MISSING_OUTPUT = "missing_output"
GATED = "stand_in_gate"
"""A stand-in found nothing to measure (nobody speaks): the published model might have."""

NOT_OURS = frozenset({"unavailable", "no_judge", "filtered", GATED})
"""Reasons that say something about this machine or run, and nothing about the system under test."""

PUBLISHED = "published models"
STAND_INS = "stand-ins"
NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Tally:
    """One metric of one system by models of one kind. `missing` counts cases without a number by reason."""

    system: str
    metric: str
    kind: str  # PUBLISHED, STAND_INS, or NOTHING where no case has a number
    models: tuple[str, ...]  # stand-ins in words
    n_scored: int
    n_active: int
    n_zero_by_silence: int
    total: float  # sum of the values
    missing: Mapping[str, int]

    @property
    def mean(self) -> float | None:
        """Over cases with a number, as the reference reports it."""
        return self.total / self.n_scored if self.n_scored else None

    @property
    def mean_with_failures_as_zero(self) -> float | None:
        """Over these and the cases that the system failed."""
        failed = sum(count for reason, count in self.missing.items() if reason not in NOT_OURS)
        return self.total / (self.n_scored + failed) if self.n_scored + failed else None

    @property
    def coverage(self) -> float:
        """Share of the active cases that have a number."""
        return self.n_scored / self.n_active if self.n_active else 0.0


def tallies(cases: Sequence[Case], scores: Sequence[Score]) -> list[Tally]:
    """Per system and metric, in the order of the records and of the routing table; only metrics with a number or a gap.

    A metric that stand-ins measured for some cases and the published model for others has a tally for each kind.
    """
    found: list[Tally] = []
    for system in dict.fromkeys(score.system for score in scores):
        absent = missing_outputs([case for case in cases if case.system == system])
        for metric, branches in ROUTING.items():
            own = [score for score in scores if score.system == system and score.metric == metric]
            gaps = sum(count for branch, count in absent.items() if branch in branches)
            found += _tallies(system, metric, own, gaps)
    return found


def _tallies(system: str, metric: str, scores: Sequence[Score], no_output: int) -> Iterator[Tally]:
    missing = Counter(_reason(score) for score in scores if score.reason)
    if no_output:
        missing[MISSING_OUTPUT] += no_output
    kinds = list(dict.fromkeys(kind_of(score) for score in scores if score.value is not None))
    for kind in kinds or ([NOTHING] if missing else []):
        scored = [score for score in scores if score.value is not None and kind_of(score) == kind]
        values = [score.value for score in scored if score.value is not None]
        yield Tally(
            system=system,
            metric=metric,
            kind=kind,
            models=stand_ins(scored),
            n_scored=len(values),
            n_active=len(scores) + no_output,
            n_zero_by_silence=sum(bool(score.details.get("silent")) for score in scored),
            total=sum(values),
            missing=dict(sorted(missing.items())),
        )


def _reason(score: Score) -> str:
    code = score.reason.code if score.reason else ""
    return GATED if code == "not_applicable" and kind_of(score) == STAND_INS else code


def kind_of(score: Score) -> str:
    """Whether every model behind a record is the published one; a record without models is arithmetic alone."""
    return STAND_INS if any(model.stands_in_for for model in score.models) else PUBLISHED


def stand_ins(scores: Sequence[Score]) -> tuple[str, ...]:
    """`rife for AMT-G` for every stand-in behind these records."""
    models = (model for score in scores for model in score.models if model.stands_in_for)
    return tuple(dict.fromkeys(f"{model.id} for {model.stands_in_for}" for model in models))


def missing_outputs(cases: Sequence[Case]) -> Mapping[str, int]:
    """Branch -> cases of the layout without an edited clip; empty if the run holds only a part of the import."""
    layout = layout_of(cases)
    if layout is None or not is_whole(layout, cases):
        return {}
    return {str(branch): count for branch, count in layout.missing_output.items()}


def layout_of(cases: Sequence[Case]) -> Layout | None:
    """The counts of the import that these cases of one system came from; None for a manifest made by hand."""
    counts = [case.data["layout"] for case in cases if case.data.get("layout")]
    return Layout.model_validate(counts[0]) if counts and len(counts) == len(cases) else None


def is_whole(layout: Layout, cases: Sequence[Case]) -> bool:
    """Whether these cases of one system are all that the import made."""
    left_out = sum(layout.missing_output.values()) + layout.unusable
    return len(cases) + left_out == layout.instructions
