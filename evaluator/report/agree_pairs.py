"""Does a metric prefer what people prefer? Agreement over pairs of outputs, beside the agreement of people themselves.

Definitions: AVENUE spec 5.2 (pairwise, leave-one-out, tau-b, exclusions), CoVEBench spec 8.3 (adaptive tie threshold),
MultiRef-Compass spec 6 (win rates).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.report.figures import Figure, Resampling, numbered
from evaluator.report.preferences import Preferences
from evaluator.stats.agreement import cohen_kappa, gwet_ac1
from evaluator.stats.bootstrap import Method, ratio
from evaluator.stats.preference import (
    adaptive_threshold,
    agreements,
    between_annotators,
    leave_one_out,
    leave_one_out_of,
    majority,
    sign,
)
from evaluator.stats.ranks import tau_b_of_signs

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Excluded:
    """What was left out of the pairwise figures, and why. Counts judgements (annotator x pair)."""

    no_value: int  # the metric has no value for one of the two outputs
    human_tie: int
    metric_tie: int
    order_inconsistent: int


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """All figures over pairs. `threshold`: |difference| up to which the metric calls a tie in the 3-way figures."""

    pairs: int
    annotators: int
    items: int
    tie_share: float
    threshold: float | None  # None where people see no tie
    excluded: Excluded
    figures: tuple[Figure, ...]


def agree_on_pairs(
    people: Preferences, values: Mapping[str, float], systems: Mapping[str, str], method: Method, seed: int
) -> PairAgreement | None:
    """Figures of one metric; None if it has values for no pair. `values`: case -> value, higher is better."""
    deltas = np.asarray([values.get(a, np.nan) - values.get(b, np.nan) for a, b in people.pairs])
    known = ~np.isnan(deltas)
    if not known.any():
        return None
    seen = people.signs[~known]
    signs, delta = people.signs[known], deltas[known]
    kept = [index for index, use in enumerate(known) if use]
    resampling = Resampling(numbered([people.items[index] for index in kept]), method, seed)
    human = majority(signs)
    ties = float(np.mean(human == 0))
    threshold = adaptive_threshold(delta, ties)
    names = [tuple(systems[case] for case in people.pairs[index]) for index in kept]
    figures = [
        *_pairwise(resampling, signs, sign(delta)),
        *_left_out(resampling, signs, sign(delta)),
        *_rankings(resampling, signs, sign(delta)),
        *_three_way(resampling, signs, human, delta, threshold),
        *_win_rates(resampling, human, sign(delta), names),
    ]
    return PairAgreement(
        len(delta),
        len(people.annotators),
        int(resampling.items.max()) + 1,
        ties,
        threshold if ties else None,
        _excluded(signs, delta, int((~np.isnan(seen)).sum()), people.inconsistent),
        tuple(figure for figure in figures if figure.n),  # one annotator has nobody to agree with
    )


def _excluded(signs: Floats, delta: Floats, no_value: int, inconsistent: int) -> Excluded:
    judged = ~np.isnan(signs)
    metric_ties = judged & (signs != 0) & (sign(delta) == 0)[:, None]
    return Excluded(no_value, int((signs == 0).sum()), int(metric_ties.sum()), inconsistent)


def _pairwise(resampling: Resampling, signs: Floats, metric: Floats) -> list[Figure]:
    """Share of equal preferences, ties of either side left out."""
    ours = agreements(np.broadcast_to(metric[:, None], signs.shape), signs).sum(axis=1)
    theirs = between_annotators(signs)
    return [
        resampling.estimate("pairwise agreement", ours, ratio, ours[:, 1].sum()),
        resampling.estimate("pairwise agreement, people", theirs, ratio, theirs[:, 1].sum()),
    ]


def _left_out(resampling: Resampling, signs: Floats, metric: Floats) -> list[Figure]:
    """Agreement with the majority of all but one annotator, averaged over that one."""

    def mean_share(sums: Floats) -> Floats:
        return _mean_defined(ratio(sums.reshape(-1, 2)).reshape(len(sums), -1))

    ours, theirs = leave_one_out_of(metric, signs), leave_one_out(signs)
    return [
        resampling.estimate("leave-one-out", ours, mean_share, ours[..., 1].sum()),
        resampling.estimate("leave-one-out, people", theirs, mean_share, theirs[..., 1].sum()),
    ]


def _mean_defined(rows: Floats) -> Floats:
    """Mean of each row [R, H] over its numbers; NaN for a row without any."""
    defined = ~np.isnan(rows)
    return ratio(np.stack([np.nansum(rows, axis=1), defined.sum(axis=1)], axis=1))


def _rankings(resampling: Resampling, signs: Floats, metric: Floats) -> list[Figure]:
    """tau-b of two rankings of an item, averaged over items and annotators; constant rankings are left out."""
    annotators = signs.shape[1]
    judged = [(np.broadcast_to(metric[:, None], signs.shape), signs)]
    pairs = np.triu_indices(annotators, k=1)
    judged.append((signs[:, pairs[0]], signs[:, pairs[1]]))
    names = ("Kendall tau-b", "Kendall tau-b, people")
    found = []
    for name, (first, second) in zip(names, judged, strict=True):
        tallies = np.stack([_tau_tally(resampling, index, first, second) for index in range(len(_items(resampling)))])
        by_item = Resampling(np.arange(len(tallies)), resampling.method, resampling.seed)
        found.append(by_item.estimate(name, tallies, ratio, tallies[:, 1].sum()))
    return found


def _items(resampling: Resampling) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.unique(resampling.items)
    return found


def _tau_tally(resampling: Resampling, item: int, first: Floats, second: Floats) -> Floats:
    """(sum, count) of tau-b over the columns of one item's pairs."""
    ours, theirs = first[resampling.items == item].T, second[resampling.items == item].T
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    tau = tau_b_of_signs(np.where(both, ours, 0.0), np.where(both, theirs, 0.0))
    return np.asarray([np.nansum(tau), np.sum(~np.isnan(tau))], np.float64)


def _three_way(resampling: Resampling, signs: Floats, human: Floats, delta: Floats, threshold: float) -> list[Figure]:
    """Against the majority, with the metric calling as many ties as people do, and with clear majorities only."""
    calls = sign(delta, threshold)
    equal = np.stack([calls == human, np.ones_like(human)], axis=1).astype(np.float64)
    clear = np.stack([(human != 0) & (sign(delta, 0.0) == human), human != 0], axis=1).astype(np.float64)
    ours = _confusions(human, calls)
    ones, twos = np.triu_indices(signs.shape[1], k=1)
    theirs = sum((_confusions(signs[:, i], signs[:, j]) for i, j in zip(ones, twos, strict=True)), np.zeros_like(ours))
    return [
        resampling.estimate("agreement, 3-way", equal, ratio, len(human)),
        resampling.estimate("agreement, clear", clear, ratio, clear[:, 1].sum()),
        *_coefficients(resampling, "", ours),
        *_coefficients(resampling, ", people", theirs),
    ]


def _coefficients(resampling: Resampling, suffix: str, counts: Floats) -> list[Figure]:
    def over(coefficient: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda sums: coefficient(_mirrored(sums.reshape(-1, 3, 3)))

    n = counts.sum()
    return [
        resampling.estimate(f"Cohen kappa, 3-way{suffix}", counts, over(cohen_kappa), n),
        resampling.estimate(f"Gwet AC1, 3-way{suffix}", counts, over(gwet_ac1), n),
    ]


def _confusions(first: Floats, second: Floats) -> Floats:
    """One 3 x 3 matrix per pair [P, 3, 3] with a single 1, or all 0 where one side did not judge."""
    counts = np.zeros((len(first), 3, 3))
    judged = np.flatnonzero(~np.isnan(first) & ~np.isnan(second))
    counts[judged, first[judged].astype(int) + 1, second[judged].astype(int) + 1] = 1
    return counts


def _mirrored(counts: Floats) -> Floats:
    """Each pair in both orientations: which output is called the first must not move a coefficient."""
    return counts + counts[:, ::-1, ::-1]


def _win_rates(resampling: Resampling, human: Floats, metric: Floats, names: Sequence[tuple[str, ...]]) -> list[Figure]:
    """Correlation over systems of the win rates that people and the metric give them. At least three systems."""
    systems = list(dict.fromkeys(name for pair in names for name in pair))
    if len(systems) < 3 or "" in systems:
        return []
    rows = np.zeros((len(human), 3, len(systems)))  # wins by people, wins by metric, comparisons
    for row, (first, second), ours, theirs in zip(rows, names, human, metric, strict=True):
        if first != second:
            a, b = systems.index(first), systems.index(second)
            row[:, a] += ((1 + ours) / 2, (1 + theirs) / 2, 1)
            row[:, b] += ((1 - ours) / 2, (1 - theirs) / 2, 1)

    def correlation(sums: Floats) -> Floats:
        people, judge, met = np.moveaxis(sums.reshape(-1, 3, len(systems)), 1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):  # a system that was not drawn has no rate: NaN
            return _pearson(people / met, judge / met)

    return [resampling.estimate("win-rate correlation", rows, correlation, rows[:, 2].sum() / 2)]


def _pearson(first: Floats, second: Floats) -> Floats:
    """Correlation of each row [R, S] -> [R]; NaN for a constant row."""
    ours = first - first.mean(axis=1, keepdims=True)
    theirs = second - second.mean(axis=1, keepdims=True)
    found: Floats = (ours * theirs).sum(axis=1) / np.sqrt((ours**2).sum(axis=1) * (theirs**2).sum(axis=1))
    return found
