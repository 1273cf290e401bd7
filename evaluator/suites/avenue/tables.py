"""Means for AVENUE's tables: over (clip, instruction) pairs, one row per system, everything that is missing counted.

Scores of stand-ins and of partial answers never share a cell with whole ones: they are other cells, marked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from evaluator.schema import Case, Score, Status
from evaluator.suites.avenue.data import AvenueData, of
from evaluator.suites.board import Board, Cell

STAND_IN, PARTIAL = "*", "~"
"""Marks of a cell: a model stands in for the published one; some items of the dimension were not answered."""


@dataclass(frozen=True, slots=True)
class Record:
    """One score with what the suite knows of its case."""

    score: Score
    data: AvenueData

    @property
    def row(self) -> str:
        """Who is measured: a system, apart under each condition (section 2.2: the source's own video, for example)."""
        return f"{self.score.system} ({self.data.condition})" if self.data.condition else self.score.system

    @property
    def kind(self) -> str:
        """Records of one kind may be averaged."""
        stand_in = STAND_IN if any(model.stands_in_for for model in self.score.models) else ""
        partial = PARTIAL if str(self.score.details.get("evidence", "")).startswith("partial") else ""
        return stand_in + partial


def records(cases: Sequence[Case], scores: Sequence[Score]) -> list[Record]:
    """Scores with their cases' data."""
    data = {case.id: of(case) for case in cases}
    return [Record(score, data[score.case]) for score in scores if score.case in data]


def cell(found: Iterable[Record]) -> list[tuple[str, float, int]]:
    """(mark, mean, n) for each kind of record among those with a value, the unmarked first."""
    kinds: dict[str, list[float]] = {}
    for record in found:
        if record.score.value is not None:
            kinds.setdefault(record.kind, []).append(record.score.value)
    return [(kind, fmean(values), len(values)) for kind, values in sorted(kinds.items())]


def shown(found: Iterable[Record], decimals: int = 1) -> Cell:
    """A cell as text: the mean with n, each kind apart; None where nothing has a value."""
    parts = [f"{mean:.{decimals}f}{mark} ({n})" for mark, mean, n in cell(found)]
    return " / ".join(parts) or None


def missing(found: Sequence[Record]) -> str | None:
    """`k of n (reason)` for the records without a value; None if none is missing."""
    absent = [record.score for record in found if record.score.status is not Status.OK]
    if not absent:
        return None
    why = Counter(score.reason.code if score.reason else "unknown" for score in absent)
    told = ", ".join(reason if len(why) == 1 else f"{count} {reason}" for reason, count in sorted(why.items()))
    return f"{len(absent)} of {len(found)} ({told})"


Where = Callable[[Record], bool]


def table(
    name: str,
    title: str,
    found: Sequence[Record],
    columns: Mapping[str, tuple[str, Where]],
    notes: Sequence[str] = (),
    decimals: int = 1,
) -> Board | None:
    """One row per system and condition; `columns` name a metric and the records that count. None if none belongs to it.

    Beside a system stands its paradigm, where the data name one; below, per column, the records without a value.
    """
    chosen = {
        title: [record for record in found if record.score.metric == metric and where(record)]
        for title, (metric, where) in columns.items()
    }
    kept = {title: own for title, own in chosen.items() if own}
    if not kept:
        return None
    counted = {id(record) for own in kept.values() for record in own}
    systems = list(dict.fromkeys(record.row for record in found if id(record) in counted))
    paradigms = _paradigms(found)
    rows = tuple(
        (
            system,
            *([paradigms.get(system)] if paradigms else []),
            *(shown((r for r in own if r.row == system), decimals) for own in kept.values()),
        )
        for system in systems
    )
    gaps = [f"no value, {title}: {told}" for title, own in kept.items() if (told := missing(own))]
    marks = [text for mark, text in _MARKS.items() if any(mark in r.kind for own in kept.values() for r in own)]
    heads = ("system", *(["paradigm"] if paradigms else []), *kept)
    return Board(name, title, heads, rows, (*notes, *marks, *gaps), decimals)


def _paradigms(found: Iterable[Record]) -> dict[str, str]:
    """Row -> how its system edits: joint, sequential, separate ...; empty if no record says so."""
    named: dict[str, dict[str, None]] = {}
    for record in found:
        if record.data.paradigm:
            named.setdefault(record.row, {})[record.data.paradigm] = None
    return {row: ", ".join(words) for row, words in named.items()}


_MARKS = {
    STAND_IN: "* a stand-in model (summary.json names it)",
    PARTIAL: "~ mean over the answered items only: some were not perceived by any judge or could not be read",
}
