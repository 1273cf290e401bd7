"""Clip by clip: every transition with what was asked and what was found, every stored question with its answer.

Only for runs of a few clips, which a person reads; a large run has its records for that. Classes are counted always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.judge.prompts import LETTERS
from evaluator.schema import Case, Score
from evaluator.suites.board import Board, Cell
from evaluator.suites.cutcraft.parsing import reference_letter

MOST_CLIPS = 12
SHORT = 60  # characters of a cell


def boards(cases: Sequence[Case], scores: Sequence[Score]) -> list[Board]:
    """Transitions and questions of a small run, and classes found for each class asked."""
    few = len(cases) <= MOST_CLIPS
    made = [transitions(cases, scores), questions(cases, scores)] if few else []
    return [board for board in (*made, classes(scores)) if board is not None]


def transitions(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """One row per transition: kind, optical effect and sound as asked, and as found."""
    records = {(one.case, one.metric): one.details for one in scores if one.value is not None}
    rows = [row for case in cases for row in _rows(case, records)]
    columns = (
        "clip",
        "cut",
        "at s",
        "kind asked",
        "credit",
        "effect asked",
        "found",
        "sound asked",
        "found ",
        "offset s",
        "by",
    )
    notes = (
        "credit of the kind: measured, or 1 and 0 for a judge's yes and no; empty if nobody could say or was asked.",
    )
    return Board("transitions", "Transitions one by one", columns, tuple(rows), notes, 2) if rows else None


def _rows(case: Case, records: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[tuple[Cell, ...]]:
    cuts = [shot.get("transition_to_next") for shot in case.shots]
    per = {name: records.get((case.id, name), {}).get("transitions", ()) for name in ("d1", "d2", "d3")}
    for place, cut in enumerate(one for one in cuts if one):
        kind, optical, sound = (per[name][place] if place < len(per[name]) else {} for name in ("d1", "d2", "d3"))
        credit = kind.get("judged") if kind.get("measured") is None else kind["measured"]
        yield (
            case.id,
            f"{place + 1} to {place + 2}",
            optical.get("cut", sound.get("cut")),
            cut["cinematographic_type"],
            credit,
            cut["optical_effect"],
            optical.get("found"),
            cut["audio_visual_relation"],
            sound.get("found"),
            sound.get("signals", {}).get("offset"),
            sound.get("by"),
        )


def questions(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """One row per stored question: what is right and what the judge said."""
    order = {case.id: place for place, case in enumerate(cases)}
    rows = [
        (
            score.case,
            score.metric.upper(),
            _short(item["question"]),
            _short(item["right"]),
            _short(said(item)),
            item["status"],
        )
        for score in sorted(scores, key=lambda one: order.get(one.case, 0))
        for item in score.details.get("items", ())
        if "right" in item
    ]
    columns = ("clip", "dimension", "asked", "right", "said", "status")
    return Board("questions", "Stored questions", columns, tuple(rows)) if rows else None


def said(item: Mapping[str, Any]) -> str | None:
    """What the judge chose, in words; None without an answer."""
    label = item.get("label")
    if label is None and isinstance(item.get("said"), str) and "options" in item:
        label = reference_letter(item["said"], LETTERS[: len(item["options"])])
    if label is None:
        return None
    options: Sequence[str] = item.get("options", ())
    return options[LETTERS.index(label)] if options and label in LETTERS else str(label)


def classes(scores: Sequence[Score]) -> Board | None:
    """How often each class of effect and of sound was asked for, and found where it was asked for."""
    rows: list[tuple[Cell, ...]] = []
    for metric in ("d2", "d3"):
        asked: Counter[str] = Counter()
        found: Counter[tuple[str, str]] = Counter()
        for score in scores:
            if score.metric == metric:
                for item in score.details.get("transitions", ()):
                    asked[item["wanted"]] += 1
                    found[item["wanted"], item["found"] or "nothing"] += 1
        for wanted, count in sorted(asked.items()):
            told = ", ".join(f"{n} {one}" for (a, one), n in found.most_common() if a == wanted)
            rows.append((metric.upper(), wanted, count, found[wanted, wanted] / count, told))
    columns = ("dimension", "asked for", "cuts", "share found", "found")
    return Board("classes", "Effects and sound bridges by class", columns, tuple(rows)) if rows else None


def _short(text: str | None) -> str | None:
    return text if text is None or len(text) <= SHORT else text[: SHORT - 1] + "…"
