"""The human pass over generated checklists (spec 6.3): people merge items, they add, rewrite and answer none.

Knows two lists of items; whether two merged items ask for the same evidence is for people to say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evaluator.suites.ave_compass.checklist import Checklist, Finding, Item


def findings(raw: Checklist, kept: Checklist) -> list[Finding]:
    """What the kept list may not do: D1 a new or rewritten question, D2 one kept twice, D3 not renumbered in order,
    D4 another order than the raw list, D5 another dimension or modality."""
    known = {item.question: item for item in raw.items}
    return [*_strangers(known, kept), *_renumbered(kept), *_ordered(raw, kept)]


def _strangers(known: dict[str, Item], kept: Checklist) -> Iterator[Finding]:
    counts = Counter(item.question for item in kept.items)
    for item in kept.items:
        before = known.get(item.question)
        if before is None:
            yield Finding("D1", "E", item.id, "the question is not in the raw list")
        elif (before.subdimension, before.tag) != (item.subdimension, item.tag):
            yield Finding("D5", "E", item.id, f"was {before.subdimension}/{before.tag}")
        if counts[item.question] > 1:
            yield Finding("D2", "E", item.id, "the question is kept more than once")


def _renumbered(kept: Checklist) -> Iterator[Finding]:
    for place, item in enumerate(kept.items, 1):
        if item.id != f"Q{place:02d}":
            yield Finding("D3", "E", item.id, f"expected Q{place:02d} at this place")


def _ordered(raw: Checklist, kept: Checklist) -> Iterator[Finding]:
    place = {item.question: index for index, item in enumerate(raw.items)}
    places = [place[item.question] for item in kept.items if item.question in place]
    if places != sorted(places):
        yield Finding("D4", "W", "", "the items are in another order than in the raw list")
