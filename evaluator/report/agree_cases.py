"""Does a metric say about each output what people say? Correlation of scores, agreement of labels.

Labels: AVE-Compass spec 7.11 (share equal to the majority, its ties dropped) and AVENUE spec 5.3 (kappa, AC1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, multimode

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import UsageError
from evaluator.report.figures import Figure, Resampling, numbered
from evaluator.report.human import Judgement
from evaluator.stats.agreement import cohen_kappa, confusion, gwet_ac1, observed
from evaluator.stats.bootstrap import Method, interval
from evaluator.stats.ranks import rank_correlation

Floats = NDArray[np.float64]
MAX_CATEGORIES = 20


def correlate(
    judgements: Sequence[Judgement], values: Mapping[str, float], items: Mapping[str, str], method: Method, seed: int
) -> list[Figure]:
    """Rank correlation over outputs of mean human score and metric (both: higher is better). Items are drawn whole."""
    scores: dict[str, list[float]] = {}
    for one in judgements:
        if one.cases[0] in values:
            scores.setdefault(one.cases[0], []).append(one.value)
    cases = list(scores)
    data = np.asarray([(fmean(scores[case]), values[case]) for case in cases]).reshape(-1, 2)
    labels = numbered([items.get(case, case) for case in cases])
    members = [np.flatnonzero(labels == item) for item in range(len(set(labels.tolist())))]

    def figure(rows: NDArray[np.int64]) -> Floats:
        drawn = [data[np.concatenate([members[item] for item in row])] for row in rows]
        return np.asarray([_defined(rank_correlation(part[:, 0], part[:, 1])) for part in drawn])

    rho = rank_correlation(data[:, 0], data[:, 1])
    limits = None if rho is None else interval(len(members), figure, seed=seed, method=method)
    return [Figure("Spearman rho over outputs", rho, limits, len(cases))]


def _defined(value: float | None) -> float:
    return np.nan if value is None else value


def agree_on_labels(
    judgements: Sequence[Judgement],
    values: Mapping[str, float],
    items: Mapping[str, str],
    method: Method,
    seed: int,
) -> list[Figure]:
    """Agreement of the metric with the majority label of each output, and of annotators with each other."""
    labels: dict[str, dict[str, float]] = {}
    for one in judgements:
        labels.setdefault(one.cases[0], {})[one.annotator] = one.value
    people = _between(labels)
    modes = {case: multimode(given.values()) for case, given in labels.items() if case in values}
    ours = [(case, mode[0], values[case]) for case, mode in modes.items() if len(mode) == 1]  # ties are dropped
    categories = _categories([*ours, *people])
    return [
        *_figures("", ours, categories, items, method, seed),
        *_figures(", people", people, categories, items, method, seed),
    ]


Rating = tuple[str, float, float]  # case, first rater, second rater


def _between(labels: Mapping[str, Mapping[str, float]]) -> list[Rating]:
    """Every two annotators of a case, always in the same order."""
    annotators = sorted({name for given in labels.values() for name in given})
    return [
        (case, given[first], given[second])
        for first, second in combinations(annotators, 2)
        for case, given in labels.items()
        if first in given and second in given
    ]


def _categories(ratings: Sequence[Rating]) -> list[float]:
    found = sorted({value for _, first, second in ratings for value in (first, second)})
    if len(found) > MAX_CATEGORIES:
        raise UsageError(
            f"labels: {len(found)} different values, more than {MAX_CATEGORIES}; labels are categories that the metric "
            "gives too (--raw compares its raw figure); name the column score to correlate instead"
        )
    return found


def _figures(
    suffix: str,
    ratings: Sequence[Rating],
    categories: Sequence[float],
    items: Mapping[str, str],
    method: Method,
    seed: int,
) -> list[Figure]:
    if not ratings or len(categories) < 2:
        return []
    size = len(categories)
    counts = np.stack([confusion([first], [second], categories) for _, first, second in ratings])
    resampling = Resampling(numbered([items.get(case, case) for case, _, _ in ratings]), method, seed)

    def estimate(name: str, figure: Callable[[Floats], Floats]) -> Figure:
        def shaped(sums: Floats) -> Floats:
            return figure(sums.reshape(-1, size, size))

        return resampling.estimate(f"{name}{suffix}", counts, shaped, len(ratings))

    found = [estimate("equal labels", observed), estimate("Cohen kappa", cohen_kappa), estimate("Gwet AC1", gwet_ac1)]
    if size > 2:
        found += [
            estimate("labels within one", _within_one),
            estimate("Cohen kappa, linear", lambda counts: cohen_kappa(counts, "linear")),
            estimate("Cohen kappa, quadratic", lambda counts: cohen_kappa(counts, "quadratic")),
        ]
    return found


def _within_one(counts: Floats) -> Floats:
    """Share of ratings at most one category apart."""
    place = np.arange(counts.shape[-1])
    near = np.abs(np.subtract.outer(place, place)) <= 1
    found: Floats = (counts * near).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))
    return found
