"""The objective half's tables: the paper's columns, the same by branch, the counts behind them, differences (spec 5).

Numbers of stand-in models have rows of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from evaluator.schema import Case, Score
from evaluator.suites.ave_compass.branches import BRANCHES
from evaluator.suites.ave_compass.routing import ROUTING, branch_for
from evaluator.suites.ave_compass.tallies import (
    NOT_OURS,
    PUBLISHED,
    STAND_INS,
    Tally,
    is_whole,
    kind_of,
    layout_of,
    tallies,
)
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


def objective_boards(cases: Sequence[Case], scores: Sequence[Score]) -> tuple[Board, ...]:
    """The paper's objective table, the same by branch, and the counts behind it; none without objective records.

    With several systems, also how far the first is from each other one.
    """
    counted = tallies(cases, scores)
    if not counted:
        return ()
    headline = _headline(cases, counted)
    apart = _differences(headline)
    return headline, _by_branch(cases, scores), _coverage(cases, counted), *([apart] if apart.rows else [])


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


def _differences(headline: Board) -> Board:
    """The first system of the headline minus each other one that was measured by the same kind of models."""
    rows: list[tuple[Cell, ...]] = []
    for system, kind, *values in headline.rows:
        best = next((row for row in headline.rows if row[1] == kind), None)
        if best is not None and best[0] != system and best[0] == headline.rows[0][0]:
            pairs = zip(best[2:-1], values[:-1], strict=True)
            rows.append((f"{best[0]} - {system}", kind, *(_less(first, second) for first, second in pairs)))
    return Board(
        id="objective_deltas",
        title="Objective metrics: differences to the first system",
        columns=("difference", "measured by", *HEADS.values()),
        rows=tuple(rows),
        notes=("unpaired means, see `evaluator compare` for intervals",),
    )


def _less(first: Cell, second: Cell) -> Cell:
    if not isinstance(first, float) or not isinstance(second, float):
        return None
    return first - second


def _stand_in_notes(counted: Sequence[Tally]) -> Iterator[str]:
    named = dict.fromkeys((one.metric, model) for one in counted for model in one.models)
    for model in dict.fromkeys(model for _, model in named):
        metrics = ", ".join(metric for metric, found in named if found == model)
        yield f"{model} ({metrics}): not comparable with published numbers"


def _by_branch(cases: Sequence[Case], scores: Sequence[Score]) -> Board:
    """The reference's `by_category`: means of one system on one branch, the one that the profile scored a case as."""
    known = {(case.system, case.id): case for case in cases}
    groups: dict[tuple[str, str, str], list[Score]] = {}
    for score in scores:
        if score.metric in ROUTING and score.value is not None:
            case = known.get((score.system, score.case))
            key = score.system, branch_for(case, score.profile) if case else "", kind_of(score)
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
        if not is_whole(layout, own):
            yield f"{system}: {len(own)} of {layout.instructions} cases were scored; missing outputs are not counted"
        elif absent or layout.unusable:
            yield f"{system}: {absent} outputs are missing, {layout.unusable} cases could not be imported"
