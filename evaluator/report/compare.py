"""Two sides, unit by unit: how much each metric differs, what got worse where, and what has a value no more.

Knows records and identity cards. Where they come from is `sides`; whether they may be compared is `unlike`; the figures
of one metric are `effect`; what a reader sees is `compare_text`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from evaluator.metrics.base import Direction
from evaluator.report.effect import Effect, Pair, Settings, measure
from evaluator.report.sides import Entry, Side, Unit
from evaluator.report.unlike import differences, notes, refuse
from evaluator.schema import Status
from evaluator.stats.multiplicity import holm


@dataclass(frozen=True, slots=True)
class Change:
    """A unit whose status changed, and the sentence of the side without a value."""

    suite: str
    metric: str
    case: str
    before: Status
    after: Status
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides. `lost` and `gained` count units with a value in one side only, absent ones included."""

    first: str
    second: str
    effects: tuple[Effect, ...]
    changes: tuple[Change, ...]
    lost: int
    gained: int
    only_first: int  # units that the second side does not hold at all
    only_second: int
    notes: tuple[str, ...]


def compare(
    pairs: Sequence[tuple[Side, Side]], origins: Mapping[str, str], settings: Settings
) -> tuple[Comparison, ...]:
    """All comparisons of a call, p values corrected over all of their tests.

    `origins` maps case ids to what makes units dependent (the source clip); a case without one is independent.
    Raises UsageError if sides are unlike in a way that `settings.allow` does not name.
    """
    found = [_compare(first, second, origins, settings) for first, second in pairs]
    adjusted = iter(holm([effect.p for one in found for effect in one.effects if effect.p is not None]))
    return tuple(
        replace(one, effects=tuple(e if e.p is None else replace(e, p_holm=next(adjusted)) for e in one.effects))
        for one in found
    )


def _compare(first: Side, second: Side, origins: Mapping[str, str], settings: Settings) -> Comparison:
    both = {unit: (first.entries[unit], second.entries[unit]) for unit in first.entries if unit in second.entries}
    valued = {unit: pair for unit, pair in both.items() if None not in (pair[0].value, pair[1].value)}
    unlike = differences(first, second, valued.values())
    refuse(first, second, unlike, settings.allow)
    allowed = [f"{kind}: {text}" for kind, texts in unlike.items() for text in texts]
    return Comparison(
        first.name,
        second.name,
        _effects(first, second, valued, origins, settings),
        tuple(_changes(both)),
        lost=_without(first.entries, second.entries),
        gained=_without(second.entries, first.entries),
        only_first=len(first.entries.keys() - second.entries.keys()),
        only_second=len(second.entries.keys() - first.entries.keys()),
        notes=(*allowed, *notes(first.header, second.header), *_unexplained(valued)),
    )


Both = Mapping[Unit, tuple[Entry, Entry]]


def _effects(
    first: Side, second: Side, valued: Both, origins: Mapping[str, str], settings: Settings
) -> tuple[Effect, ...]:
    cards = {card["id"]: card for card in [*second.header["metrics"], *first.header["metrics"]]}
    groups: dict[tuple[str, str], list[Pair]] = {}
    for (suite, metric, _), (ours, theirs) in valued.items():
        if ours.value is not None and theirs.value is not None:
            pair = Pair(theirs.case, origins.get(ours.case, ours.case), ours.value, theirs.value)
            groups.setdefault((suite, metric), []).append(pair)
    return tuple(
        measure(suite, metric, cards[metric]["unit"], Direction(cards[metric]["direction"]), pairs, settings)
        for (suite, metric), pairs in groups.items()
    )


def _changes(both: Both) -> list[Change]:
    """Units whose status changed, those that lost their value first."""
    found = [
        Change(unit[0], unit[1], b.case, a.status, b.status, _reason(a if b.status is Status.OK else b))
        for unit, (a, b) in both.items()
        if a.status is not b.status
    ]
    return sorted(found, key=lambda change: (change.after is Status.OK, change.after is Status.SKIPPED))


def _reason(entry: Entry) -> str:
    """Why there is no value, in the words of the first record that has none."""
    return next(f"{score.reason.code}: {score.reason.message}" for score in entry.scores if score.reason)


def _without(ours: Mapping[Unit, Entry], theirs: Mapping[Unit, Entry]) -> int:
    """Units with a value here and none there."""
    return sum(
        entry.value is not None and (unit not in theirs or theirs[unit].value is None) for unit, entry in ours.items()
    )


def _unexplained(valued: Both) -> list[str]:
    """Records with equal fingerprints have equal values, unless something outside the fingerprint changed."""
    odd = [unit for unit, (a, b) in valued.items() if a.fingerprints == b.fingerprints and a.value != b.value]
    if not odd:
        return []
    first = f"{odd[0][1]} of {valued[odd[0]][0].case}"
    return [f"{len(odd)} records have the same clips, models and metric version, yet another value (first {first})"]
