"""The objective half of the results: means per system, how many cases are behind them, and which are missing (spec 5).

A mean is over cases with a number; what is missing is never turned into zero inside it. Beside it stands the same mean
with every failure as zero, because a system whose outputs fail must not look better for it. Cases that nothing here
could measure (no model is mounted) are no failures of the system. Numbers of stand-in models have rows of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.branches import BRANCHES
from evaluator.suites.ave_compass.data import Layout
from evaluator.suites.ave_compass.routing import ROUTING
from evaluator.suites.board import Board, Cell

HEADS: Mapping[str, str] = {
    "lip_sync": "lip",
    "av_sync": "av_sync",
    "video_aesthetic": "aesthetic",
    "subject_consistency": "subject",
    "motion_smoothness": "motion",
    "audio_aesthetic": "audio aes.",
    "speech_quality": "speech q.",
    "videoclip_video_similarity": "video sim.",
    "audio_similarity": "audio sim.",
}
"""Metric -> head of its column, after the published board."""

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
    if layout is None or not _whole(layout, cases):
        return {}
    return {str(branch): count for branch, count in layout.missing_output.items()}


def layout_of(cases: Sequence[Case]) -> Layout | None:
    """The counts of the import that these cases of one system came from; None for a manifest made by hand."""
    counts = [case.data["layout"] for case in cases if case.data.get("layout")]
    return Layout.model_validate(counts[0]) if counts and len(counts) == len(cases) else None


def _whole(layout: Layout, cases: Sequence[Case]) -> bool:
    left_out = sum(layout.missing_output.values()) + layout.unusable
    return len(cases) + left_out == layout.instructions


# ------------------------------------------------------------------------------------------------------------ boards


def objective_boards(cases: Sequence[Case], scores: Sequence[Score]) -> tuple[Board, ...]:
    """The paper's objective table, the same by branch, and the counts behind it; none without objective records."""
    counted = tallies(cases, scores)
    if not counted:
        return ()
    return _headline(cases, counted), _by_branch(cases, scores), _coverage(cases, counted)


def _headline(cases: Sequence[Case], counted: Sequence[Tally]) -> Board:
    rows: list[tuple[Cell, ...]] = []
    systems = dict.fromkeys(one.system for one in counted)
    for system, kind in ((system, kind) for system in systems for kind in (PUBLISHED, STAND_INS)):
        own = {one.metric: one for one in counted if (one.system, one.kind) == (system, kind) and one.n_scored}
        if own:
            thin = ", ".join(metric for metric, one in own.items() if one.coverage < 1.0)
            rows.append((system, kind, *(own[name].mean if name in own else None for name in HEADS), thin or None))
    return Board(
        id="objective",
        title="Objective metrics (AVE-Compass, main table): means over active cases with a number, higher is better",
        columns=("system", "measured by", *HEADS.values(), "coverage < 1"),
        rows=tuple(rows),
        notes=(
            "lip and speech q. over speech cases only; the last two columns say whether the untouched stream survived "
            "a one-sided edit. There is no combined objective score.",
            *_stand_in_notes(counted),
            *_layout_notes(cases),
        ),
    )


def _stand_in_notes(counted: Sequence[Tally]) -> Iterator[str]:
    named = dict.fromkeys((one.metric, model) for one in counted for model in one.models)
    for model in dict.fromkeys(model for _, model in named):
        metrics = ", ".join(metric for metric, found in named if found == model)
        yield f"{model} ({metrics}): not comparable with published numbers"


def _by_branch(cases: Sequence[Case], scores: Sequence[Score]) -> Board:
    """The reference's `by_category`: means of one system on one branch."""
    branch_of = {(case.system, case.id): case.category for case in cases}
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        if score.metric in ROUTING and score.value is not None:
            key = score.system, branch_of.get((score.system, score.case), ""), kind_of(score)
            groups.setdefault(key, []).append(score)
    return Board(
        id="objective_by_branch",
        title="Objective metrics by branch",
        columns=("system", "branch", "measured by", "n", *HEADS.values()),
        rows=tuple((*key, *_means(groups[key])) for key in sorted(groups, key=lambda key: _ORDER.get(key[1], 0))),
        notes=("n counts cases with any of the metrics.",),
    )


_ORDER: Mapping[str, int] = {branch: place for place, branch in enumerate(BRANCHES)}


def _means(scores: Sequence[Score]) -> Iterator[Cell]:
    """How many cases, then the mean of every metric."""
    yield len({score.case for score in scores})
    for metric in HEADS:
        values = [score.value for score in scores if score.metric == metric and score.value is not None]
        yield fmean(values) if values else None


def _coverage(cases: Sequence[Case], counted: Sequence[Tally]) -> Board:
    return Board(
        id="objective_coverage",
        title="Objective metrics: what is behind the means",
        columns=(
            *("system", "metric", "measured by", "mean", "failures as 0"),
            *("n", "active", "coverage", "silent", "missing"),
        ),
        rows=tuple(_coverage_row(one) for one in counted),
        notes=(
            f"'failures as 0' counts every missing case as zero except {', '.join(sorted(NOT_OURS))}, "
            "which say nothing about the system; 'silent' counts zeros given because there was nothing to hear.",
            *_layout_notes(cases),
        ),
    )


def _coverage_row(one: Tally) -> tuple[Cell, ...]:
    missing = ", ".join(f"{reason} {count}" for reason, count in one.missing.items())
    return (
        *(one.system, one.metric, ", ".join(one.models) or one.kind, one.mean, one.mean_with_failures_as_zero),
        *(one.n_scored, one.n_active, one.coverage, one.n_zero_by_silence, missing or None),
    )


def _layout_notes(cases: Sequence[Case]) -> Iterator[str]:
    for system in dict.fromkeys(case.system for case in cases):
        own = [case for case in cases if case.system == system]
        layout = layout_of(own)
        if layout is None:
            continue
        absent = sum(layout.missing_output.values())
        if not _whole(layout, own):
            yield f"{system}: {len(own)} of {layout.instructions} cases were scored; missing outputs are not counted"
        elif absent or layout.unusable:
            yield f"{system}: {absent} outputs are missing, {layout.unusable} cases could not be imported"
