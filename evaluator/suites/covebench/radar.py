"""Which kinds of edits succeed: union accuracy per category, and its min-max over systems for a radar chart.

An edit counts once for every label that its group carries, whatever the level. Normalised values compare systems
within a category and say nothing about how hard it is: the best system has 1, the worst 0, and 0.5 stands where all
are equal (a single system, for instance). The paper has no formula for the accuracy of a category: ours is the mean
union over its edits; `by="questions"` narrows the union to the questions that the category names.
Source: CoVEBench 8.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from evaluator.suites.board import Board, Cell
from evaluator.suites.covebench.questions import Entry, Group
from evaluator.suites.covebench.rules import Missing
from evaluator.suites.covebench.sheets import RULES, Name, Sheet, Sheets, label, marks
from evaluator.suites.covebench.tally import Scores, Share, asked, share, union

By = Literal["group", "questions"]
EQUAL = 0.5
"""Where the best system is no better than the worst."""


def category_union(sheets: Iterable[Sheet], level: int, missing: Missing, by: By = "group") -> dict[str, Share]:
    """Label of a level (1, 2 or 3) -> share of its edits that are right, 0..100. Labels in alphabetical order."""
    found: dict[str, list[float | None]] = {}
    for sheet in sheets:
        for group in sheet.groups:
            if asked(group, sheet.scores):
                for name, value in _labelled(group, sheet.scores, level, missing, by):
                    found.setdefault(name, []).append(value)
    return {name: share(found[name], 100.0) for name in sorted(found)}


def _labelled(group: Group, scores: Scores, level: int, missing: Missing, by: By) -> Iterator[tuple[str, float | None]]:
    """(label, union) once for each label of a group."""
    entries: dict[str, list[Entry]] = {}
    for entry in group.entries:
        if entry.levels[level - 1]:
            entries.setdefault(entry.levels[level - 1], []).append(entry)
    for name, own in entries.items():
        chosen = {question for entry in own for question in entry.questions} if by == "questions" else scores.keys()
        yield name, union(group, {key: scores[key] for key in scores if key in chosen}, missing)


def normalised(values: Mapping[Name, float | None]) -> dict[Name, float | None]:
    """(u - min) / (max - min) over systems; EQUAL where max = min; None stays None."""
    known = [value for value in values.values() if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    return {
        name: None if value is None else (value - low) / (high - low) if high > low else EQUAL
        for name, value in values.items()
    }


def boards(found: Sheets, missing: Missing) -> list[Board]:
    """Union accuracy per category, and the figures of the radar."""
    names = list(found)
    shares = {level: {name: category_union(found[name], level, missing) for name in names} for level in (1, 2)}
    rows = [
        (f"Level {level}", category, *_cells(names, by_name, category))
        for level, by_name in shares.items()
        for category in _categories(by_name)
    ]
    columns = ("level", "category", *(head for name in names for head in (label(name), f"edits, {label(name)}")))
    notes = (f"Questions without an answer are {RULES[missing]}. An edit counts once per label.", *marks(found))
    return [
        Board("categories", "UAS per category, 0..100 (CoVEBench 8.2)", columns, tuple(rows), notes, 2),
        Board(
            "radar",
            "UAS per category, min-max over systems (CoVEBench 8.2)",
            ("category", *map(label, names)),
            tuple(_radar_rows(names, shares[1])),
            ("0 and 1 are the worst and the best system of this run, 0.5 where all are equal.", *marks(found)),
        ),
    ]


def _categories(by_name: Mapping[Name, Mapping[str, Share]]) -> list[str]:
    return sorted({category for own in by_name.values() for category in own})


def _cells(names: Sequence[Name], by_name: Mapping[Name, Mapping[str, Share]], category: str) -> Iterator[Cell]:
    for name in names:
        one = by_name[name].get(category)
        yield one.value if one else None
        yield one.n if one else 0


def _radar_rows(names: Sequence[Name], by_name: Mapping[Name, Mapping[str, Share]]) -> Iterator[tuple[Cell, ...]]:
    for category in _categories(by_name):
        raw = {name: by_name[name][category].value if category in by_name[name] else None for name in names}
        yield (category, *normalised(raw).values())
