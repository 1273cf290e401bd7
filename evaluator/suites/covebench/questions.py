"""The questions of a task: what each one asks, which score it counts for, and how edits group them.

Only data; nothing here asks or scores. Source: CoVEBench 1.2 and 3.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.schema import Case
from evaluator.suites.covebench.data import evaluation_groups


class Kind(StrEnum):
    """How a question is asked."""

    SINGLE_TF = "Single-TF"
    DUAL_TF = "Dual-TF"
    AB_MCQ = "AB-MCQ"
    SCORE_MCQ = "Score-MCQ"

    @property
    def shows_source(self) -> bool:
        """Whether the judge sees the source beside the edited clip."""
        return self in {Kind.DUAL_TF, Kind.SCORE_MCQ}


class Dimension(StrEnum):
    """Which score a question counts for."""

    IFS = "ifs"  # was the edit made?
    VRS = "vrs"  # does it look real?
    SEM = "sem"  # did the rest stay?


DIMENSIONS = {
    "execution accuracy": Dimension.IFS,
    "physical logic": Dimension.VRS,
    "semantic preservation": Dimension.SEM,
}

METADATA = (
    "metric", "dimension", "category", "score_type", "sub_category", "group", "name", "type", "tag", "tags",
    "question_type",
)  # fmt: skip
"""What the reference searches of a question and its group. What they are about is not in it: a basement is no SEM."""

KEYWORDS: tuple[tuple[Dimension, tuple[str, ...]], ...] = (
    (Dimension.SEM, ("sem", "preserv", "consisten", "unedited", "unchanged")),
    (Dimension.VRS, ("vrs", "realism", "quality", "plausib", "artifact", "natural", "physics", "logic")),
)
"""Searched in this order where a dimension is none of the three; what holds none of them counts for IFS."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a checklist. `expected` is as published; that of a Score-MCQ means nothing."""

    id: str
    kind: Kind
    dimension: Dimension
    text: str
    expected: str
    options: tuple[str, str] | None = None  # A, B
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A category that some questions of a group belong to: Level 1, 2, 3."""

    levels: tuple[str, str, str]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """One edit, or what must stay. `entries` is empty for the latter."""

    target: str
    items: tuple[Item, ...]
    entries: tuple[Entry, ...] = ()

    @property
    def union(self) -> tuple[Item, ...]:
        """The questions that must all be right for the edit to count as done (UAS)."""
        return tuple(item for item in self.items if item.dimension is not Dimension.SEM)


def groups_of(case: Case) -> tuple[Group, ...]:
    """All groups of a case in their order; none without a checklist. The checklist has been examined."""
    return tuple(_group(tree) for tree in evaluation_groups(case.checklist) or ())


def edits(groups: Iterable[Group]) -> tuple[Group, ...]:
    """The groups about edits. That a group asks about execution or realism makes it one, not its position."""
    return tuple(group for group in groups if group.union)


def items_of(groups: Iterable[Group]) -> tuple[Item, ...]:
    """All questions, groups in order."""
    return tuple(item for group in groups for item in group.items)


def dimension_of(question: Mapping[str, Any], group: Mapping[str, Any]) -> Dimension:
    """The score that a question counts for, by its dimension, else its type, else words in METADATA of both."""
    named = DIMENSIONS.get(str(question.get("dimension", "")).strip().lower())
    if named is not None:
        return named
    if question["type"] == Kind.SCORE_MCQ:
        return Dimension.SEM
    text = " ".join(str(tree.get(key, "")) for tree in (group, question) for key in METADATA).lower()
    return next((one for one, words in KEYWORDS if any(word in text for word in words)), Dimension.IFS)


def _group(tree: Mapping[str, Any]) -> Group:
    return Group(
        target=tree.get("target_element", ""),
        items=tuple(_item(question, tree) for question in tree["questions"]),
        entries=tuple(_entry(entry) for entry in tree.get("category") or ()),
    )


def _item(tree: Mapping[str, Any], group: Mapping[str, Any]) -> Item:
    options = tree.get("options") or {}
    return Item(
        id=tree["id"],
        kind=Kind(tree["type"]),
        dimension=dimension_of(tree, group),
        text=tree["question"],
        expected=tree.get("expected_answer", ""),
        options=(options["A"], options["B"]) if options.keys() >= {"A", "B"} else None,
        difficulty=tree.get("difficulty") or "",
    )


def _entry(tree: Mapping[str, Any]) -> Entry:
    levels = (tree.get("Level 1", ""), tree.get("Level 2", ""), tree.get("Level 3", ""))
    return Entry(levels, tuple(tree.get("Question IDs", ())))
