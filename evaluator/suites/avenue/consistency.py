"""Consistency analysis (section 4.1): do judge and embeddings order the cases of a system alike?

Spearman's rho over the cases of each system, mean over systems with the least and the largest. LPIPS is a distance, so
its sign is turned: in every row positive means agreement. A system under two conditions is two, and values of a
stand-in are never ranked together with others; those that compare a sentence with names of classes tell clips about one
sentence apart and not sentences, so that across cases they are not ranked at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from evaluator.stats.ranks import spearman
from evaluator.suites.avenue.tables import STAND_IN, Record
from evaluator.suites.board import Board, Cell

PAIRS = (
    ("A", "modality_selectivity_video", "v_clip", 1),
    ("A", "modality_selectivity_video", "lpips", -1),
    ("B", "modality_selectivity_audio", "clap", 1),
    ("A", "edit_accuracy", "text_audio", 1),
    ("B", "edit_accuracy", "text_video", 1),
    ("C", "edit_accuracy", "text_audio", 1),
    ("C", "edit_accuracy", "text_video", 1),
    ("C", "av_consistency", "audio_video", 1),
)
"""(scope, judged dimension, embedding metric, sign). Which twelve the paper correlates is not given."""

BY_NAMES = frozenset({"text_audio", "text_video"})
"""A stand-in compares a sentence with names of classes, at a level of its own; names with names have no such level."""

LEAST = 5
"""Cases of a system below which its rho is not computed."""


def rho(first: dict[str, float], second: dict[str, float], sign: int) -> tuple[float, float, int] | None:
    """(rho, p, n) over the cases that have both; None for fewer than LEAST or a constant."""
    both = sorted(first.keys() & second.keys())
    if len(both) < LEAST:
        return None
    found = spearman([first[case] for case in both], [sign * second[case] for case in both])
    return (*found, len(both)) if found else None


def consistency(found: Sequence[Record]) -> Board | None:
    """One row per pair of metrics; None if no system has enough cases."""
    rows: list[tuple[Cell, ...]] = []
    for scope, judged, embedded, sign in PAIRS:
        own = [record for record in found if record.data.scope == scope and not record.data.null_edit]
        for mark in ("",) if embedded in BY_NAMES else ("", STAND_IN):
            rhos = [
                value
                for system in dict.fromkeys(record.row for record in own)
                if (value := rho(_values(own, system, judged), _values(own, system, embedded, mark), sign)) is not None
            ]
            if rhos:
                values, chances, counts = zip(*rhos, strict=True)
                spread = (fmean(values), min(values), max(values), max(chances))
                rows.append((scope, judged, f"{embedded}{mark}", *spread, len(rhos), sum(counts)))
    if not rows:
        return None
    columns = ("scope", "judge", "embedding", "rho", "least", "largest", "largest p", "systems", "cases")
    notes = ("the sign of LPIPS is turned; * the embedding is a stand-in; which pairs the paper takes is not given",)
    return Board("consistency", "AVENUE, judge against embeddings: Spearman over cases", columns, tuple(rows), notes)


def _values(found: Sequence[Record], system: str, metric: str, mark: str = "") -> dict[str, float]:
    """Case -> value of the records of this mark; partial ones are left out."""
    return {
        record.score.case: record.score.value
        for record in found
        if record.row == system
        and record.score.metric == metric
        and record.score.value is not None
        and record.kind == mark
    }
