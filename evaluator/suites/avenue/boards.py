"""AVENUE's tables (sections 2 to 4): judged dimensions by scope and type, null edits, embeddings, CMTG, comparison.

Pure functions of records; how judge and embeddings agree, and how varied the prompts are, stand below them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from evaluator.schema import Case, Score
from evaluator.suites.avenue import choices, comparison, prompts
from evaluator.suites.avenue.consistency import consistency
from evaluator.suites.avenue.tables import Record, Where, records, table
from evaluator.suites.board import Board
from evaluator.suites.choices import named

JUDGED = (
    ("EA", "edit_accuracy"),
    ("MS", "modality_selectivity"),
    ("MS video", "modality_selectivity_video"),
    ("MS audio", "modality_selectivity_audio"),
    ("PQ", "perceptual_quality"),
    ("AVC", "av_consistency"),
)
EMBEDDED = (
    ("V-CLIP", "v_clip"),
    ("LPIPS", "lpips"),
    ("CLAP", "clap"),
    ("ta", "text_audio"),
    ("tv", "text_video"),
    ("av", "audio_video"),
)
SCOPES = {"A": "audio-targeted", "B": "video-targeted", "C": "coupled"}


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> tuple[Board, ...]:
    """All tables that the records have something for."""
    found = records(cases, scores)
    plain = [record for record in found if record.data.trigger is None]
    made: list[Board | None] = [
        *(_by_scope(scope, plain) for scope in SCOPES),
        *_by_subtype(plain),
        _null_edits(plain),
        *(_embedded(scope, plain) for scope in SCOPES),
        _triggered(found),
        comparison.board(cases, scores),
        consistency(plain),
        prompts.board({"manifest": cases}),
    ]
    return tuple(board for board in made if board is not None)


def _in_scope(scope: str, record: Record) -> bool:
    return record.data.scope == scope and not record.data.null_edit


def _by_scope(scope: str, found: Sequence[Record]) -> Board | None:
    where: Where = partial(_in_scope, scope)
    notes = (*named(choices.CHOICES, "score100"), *matched_note([record for record in found if where(record)]))
    return table(
        f"judged_{scope}",
        f"AVENUE, scope {scope} ({SCOPES[scope]}): a judge's grades, 0-100 (n)",
        found,
        {title: (metric, where) for title, metric in JUDGED},
        notes,
    )


def _by_subtype(found: Sequence[Record]) -> Iterator[Board | None]:
    """Coupled edits by C1 .. C5; without a subtype, by the edit type that the data names."""
    kinds = sorted({kind_of(record) for record in found if _in_scope("C", record)})
    for kind in kinds if len(kinds) > 1 else []:
        yield table(
            f"judged_C_{kind}",
            f"AVENUE, scope C, {kind}: a judge's grades, 0-100 (n)",
            found,
            {title: (metric, partial(_of_kind, kind)) for title, metric in JUDGED},
        )


def kind_of(record: Record) -> str:
    """The subtype of a coupled edit, or its open type."""
    return record.data.subtype or record.data.edit_type


def _of_kind(kind: str, record: Record) -> bool:
    return _in_scope("C", record) and kind_of(record) == kind


def _null_edits(found: Sequence[Record]) -> Board | None:
    """Section 2.3: the target prompt is the source prompt, so nothing should have changed."""

    def null(record: Record) -> bool:
        return record.data.null_edit

    titles = ("MS video", "MS audio", "V-CLIP", "LPIPS", "CLAP")
    columns = {title: (metric, null) for title, metric in (*JUDGED, *EMBEDDED) if title in titles}
    notes = (
        "the paper: AvED has MS video 76.3 and MS audio 85.0; joint editing V-CLIP 0.995, LPIPS 0.110, CLAP 0.886",
    )
    return table("null_edit", "AVENUE, null edits: nothing should change (n)", found, columns, notes, decimals=3)


def _embedded(scope: str, found: Sequence[Record]) -> Board | None:
    where: Where = partial(_in_scope, scope)
    return table(
        f"embedded_{scope}",
        f"AVENUE, scope {scope} ({SCOPES[scope]}): embeddings, without a judge (n); LPIPS: lower is better",
        found,
        {title: (metric, where) for title, metric in EMBEDDED},
        decimals=3,
    )


def _triggered(found: Sequence[Record]) -> Board | None:
    """Section 2.4, both directions apart."""
    pilot = [record for record in found if record.data.trigger is not None]

    def scoped(scope: str) -> Where:
        return partial(_in_scope, scope)

    columns = {
        f"{title} {scope}": (metric, scoped(scope))
        for scope in ("A", "B")
        for title, metric in (("EA", "edit_accuracy"), ("CMTG", "cmtg"), ("F1", "trigger_f1"))
    }
    return table("cmtg", "AVENUE, edits at a trigger of the other modality (n)", pilot, columns, decimals=2)


def matched_note(found: Sequence[Record]) -> tuple[str, ...]:
    """Over which systems outputs were matched: a score depends on it, so two sets in one table are worth a warning."""
    sets = {
        tuple(record.score.details["systems"]) for record in found if record.score.details.get("systems") is not None
    }
    if not sets:
        return ()
    if len(sets) == 1:
        return (f"cut to the shortest output of: {', '.join(next(iter(sets))) or 'none'}",)
    listed = "; ".join(", ".join(one) for one in sorted(sets))
    return (f"outputs were cut to the shortest of different sets of systems, which moves scores: {listed}",)
