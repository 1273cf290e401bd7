"""Judgements to pairs of outputs: who preferred which, and what the metric says about the same two.

Scores and ranks become preferences within an item; a pair that one annotator saw in both orders counts once, and not at
all if the two answers differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evaluator.report.human import Human, Judgement

Floats = NDArray[np.float64]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Preferences:
    """P pairs of outputs that H annotators compared. Signs: 1 the first is better, -1 the second, 0 tie, NaN unseen."""

    pairs: tuple[Pair, ...]
    items: tuple[str, ...]  # [P] pairs of one item are not independent
    annotators: tuple[str, ...]
    signs: Floats  # [P, H]
    inconsistent: int  # judgements left out: the same annotator answered differently when the order was swapped


def preferences(human: Human, judgements: Sequence[Judgement], items: Mapping[str, str]) -> Preferences:
    """The pairs behind `judgements`, in one orientation each.

    `items` maps cases to items for scores and ranks. Preferences make their own: outputs that are linked by comparisons
    belong together.
    """
    if human.kind == "preference":
        votes = [(item.annotator, item.cases[0], item.cases[1], item.value) for item in judgements]
        items = _linked((first, second) for _, first, second, _ in votes)
    else:
        votes = list(_votes(judgements, items, best_first=human.kind == "rank"))
    found, inconsistent = _collect(votes)
    pairs = tuple(dict.fromkeys(pair for _, pair in found))
    annotators = tuple(dict.fromkeys(annotator for annotator, _ in found))
    signs = np.full((len(pairs), len(annotators)), np.nan)
    place = {pair: index for index, pair in enumerate(pairs)}
    for (annotator, pair), value in found.items():
        signs[place[pair], annotators.index(annotator)] = value
    return Preferences(pairs, tuple(items[first] for first, _ in pairs), annotators, signs, inconsistent)


Vote = tuple[str, str, str, float]  # annotator, first, second, sign


def _votes(judgements: Sequence[Judgement], items: Mapping[str, str], best_first: bool) -> Iterable[Vote]:
    """Every two outputs of an item that an annotator judged."""
    groups: dict[tuple[str, str], list[Judgement]] = {}
    for one in judgements:
        if one.cases[0] in items:
            groups.setdefault((items[one.cases[0]], one.annotator), []).append(one)
    for (_, annotator), members in groups.items():
        for first, second in combinations(members, 2):
            sign = float(np.sign(first.value - second.value))
            yield annotator, first.cases[0], second.cases[0], -sign if best_first else sign


def _collect(votes: Iterable[Vote]) -> tuple[dict[tuple[str, Pair], float], int]:
    """(annotator, pair) -> sign with each pair in one orientation, and how many judgements contradicted each other."""
    found: dict[tuple[str, Pair], set[float]] = {}
    orientation: dict[frozenset[str], Pair] = {}
    for annotator, first, second, sign in votes:
        pair = orientation.setdefault(frozenset((first, second)), (first, second))
        found.setdefault((annotator, pair), set()).add(sign if pair == (first, second) else -sign)
    consistent = {key: signs.pop() for key, signs in found.items() if len(signs) == 1}
    return consistent, len(found) - len(consistent)


def _linked(pairs: Iterable[Pair]) -> dict[str, str]:
    """Case -> a name of its connected component."""
    parent: dict[str, str] = {}

    def root(case: str) -> str:
        while parent.setdefault(case, case) != case:
            case = parent[case]
        return case

    for first, second in pairs:
        parent[root(second)] = root(first)
    return {case: root(case) for case in list(parent)}
