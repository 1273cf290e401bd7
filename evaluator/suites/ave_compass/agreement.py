"""Does the judge say what people say? (spec 7.11; the paper reports close to 90 % for EI, IF, FP and realism.)

Items: share of binary answers equal to the majority of people (ties dropped), and Cohen's kappa. Intent: share of cases
in which judge and people differ by at most 0.1 (a guess: the paper's formula is not in our material), and Spearman's
rho. Realism: share of grades that are equal, and within one. Intervals draw whole cases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, multimode

import numpy as np
from numpy.typing import NDArray

from evaluator.schema import Score
from evaluator.stats.agreement import cohen_kappa, confusion, observed
from evaluator.stats.bootstrap import Interval, interval, ratio, tally_interval
from evaluator.stats.ranks import rank_correlation
from evaluator.suites.ave_compass.cells import KINDS, items
from evaluator.suites.ave_compass.judged import FIDELITY, FOLLOWING, INTENT, REALISM, RESPONSE
from evaluator.suites.ave_compass.realism import HIGHEST, LOWEST

NEAR = 0.1
"""Difference of two intents, 0..1, up to which they agree. A guess."""

Floats = NDArray[np.float64]
People = Mapping[tuple[str, str], Sequence[int]]
"""(case, item or aspect) -> what each annotator said: 0 or 1, or a grade from 1 to 5."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One estimate with its 95 % bootstrap interval; `n` counts the items, cases or grades behind it."""

    name: str
    value: float | None
    interval: Interval | None
    n: int


def judged_items(scores: Sequence[Score], family: str, kind: str) -> dict[tuple[str, str], int]:
    """(case, question id) -> the judge's binary answer on evidence of a kind, from the overall records of a family."""
    return {
        (score.case, item["id"]): int(item["yes"])
        for score in scores
        if score.metric == family
        for item in items(score)
        if item["yes"] is not None and item.get("evidence", score.details.get("evidence")) == kind
    }


def judged_grades(scores: Sequence[Score], kind: str) -> dict[tuple[str, str], int]:
    """(case, aspect) -> the judge's grade on evidence of a kind. Grades that were asked for at once share theirs."""
    return {
        (score.case, aspect): grade
        for score in scores
        if score.metric == REALISM
        for aspect, grade in score.details.get("grades", {}).items()
        if grade is not None
        and score.details.get("answers", {}).get(aspect, {}).get("evidence", score.details.get("evidence")) == kind
    }


def judged_intents(scores: Sequence[Score], kind: str) -> dict[str, float]:
    """Case -> the judge's intent on evidence of a kind."""
    return {
        score.case: score.value
        for score in scores
        if score.metric == INTENT and score.value is not None and score.details.get("evidence") == kind
    }


def majority(people: People) -> dict[tuple[str, str], int]:
    """What most people say of each item; ties are dropped."""
    modes = {place: multimode(said) for place, said in people.items() if said}
    return {place: mode[0] for place, mode in modes.items() if len(mode) == 1}


def item_agreement(judge: Mapping[tuple[str, str], int], people: People, name: str = "items") -> list[Figure]:
    """Equal answers and Cohen's kappa over the items that both answered."""
    human = majority(people)
    both = [place for place in judge if place in human]
    counts = [confusion([judge[place]], [human[place]], (0, 1)) for place in both]
    tallies = _by_case(both, [count.ravel() for count in counts], 4)

    def square(figure: Callable[[Floats], Floats]) -> Callable[[Floats], Floats]:
        return lambda sums: figure(sums.reshape(-1, 2, 2))

    return [
        _estimate(f"{name}: equal answers", tallies, square(observed), len(both)),
        _estimate(f"{name}: Cohen kappa", tallies, square(cohen_kappa), len(both)),
    ]


def intent_agreement(judge: Mapping[str, float], people: Mapping[str, float]) -> list[Figure]:
    """Intents within NEAR of each other, and Spearman's rho, over the cases that both have. 0..1 each."""
    both = [case for case in judge if case in people]
    ours, theirs = (np.array([side[case] for case in both]) for side in (judge, people))
    near = [[float(abs(a - b) <= NEAR + 1e-9), 1.0] for a, b in zip(ours, theirs, strict=True)]

    def rho(rows: NDArray[np.int64]) -> Floats:
        found = [rank_correlation(ours[row], theirs[row]) for row in rows]
        return np.array([np.nan if one is None else one for one in found])

    value = rank_correlation(ours, theirs) if both else None
    limits = interval(len(both), rho) if value is not None else None
    return [
        _estimate(f"intent within {NEAR:g}", np.array(near).reshape(-1, 2), ratio, len(both)),
        Figure("intent: Spearman rho", value, limits, len(both)),
    ]


def realism_agreement(judge: Mapping[tuple[str, str], int], people: People) -> list[Figure]:
    """Grades equal to the mean human grade (rounded half to even), and at most one apart."""
    human = {place: min(HIGHEST, max(LOWEST, round(fmean(said)))) for place, said in people.items() if said}
    both = [place for place in judge if place in human]
    found = []
    for name, most in (("equal", 0), ("within one", 1)):
        hits = [np.array([float(abs(judge[place] - human[place]) <= most), 1.0]) for place in both]
        found.append(_estimate(f"realism: grades {name}", _by_case(both, hits, 2), ratio, len(both)))
    return found


def report(scores: Sequence[Score], people: People, grades: People, intents: Mapping[str, float]) -> list[Figure]:
    """Every figure that there are human judgments for; `people` answer items, `grades` aspects of realism.

    Kinds of evidence have figures of their own: what a judge was shown in words says nothing about what it hears.
    """
    found: list[Figure] = []
    for kind in KINDS:
        own = [
            *(
                figure
                for family in (FOLLOWING, FIDELITY, RESPONSE)
                for figure in item_agreement(judged_items(scores, family, kind), people, family)
            ),
            *intent_agreement(judged_intents(scores, kind), intents),
            *realism_agreement(judged_grades(scores, kind), grades),
        ]
        found += [replace(one, name=_named(one.name, kind)) for one in own if one.n]
    return found


def _named(name: str, kind: str) -> str:
    return name if kind == KINDS[0] else f"{name} ({kind} evidence)"


def _by_case(places: Sequence[tuple[str, str]], rows: Sequence[Floats], width: int) -> Floats:
    """Sums per case [cases, width], so that the bootstrap draws whole cases."""
    sums: dict[Hashable, Floats] = {}
    for (case, _), row in zip(places, rows, strict=True):
        sums[case] = sums.get(case, np.zeros(width)) + row
    return np.array(list(sums.values())).reshape(-1, width)


def _estimate(name: str, tallies: Floats, figure: Callable[[Floats], Floats], n: int) -> Figure:
    """The figure of all tallies together, with its interval."""
    value = float(figure(tallies.sum(axis=0, keepdims=True))[0]) if n else float("nan")
    known = not np.isnan(value)
    return Figure(name, value if known else None, tally_interval(tallies, figure) if known else None, n)
