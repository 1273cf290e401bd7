"""Do rankings hold if what the paper chose were chosen otherwise? A2's grades, A3's lambda and weight (spec 7, 9).

Records hold grades and directions, so every variant is computed from them; nothing is asked again. Rankings of systems
are compared with the default by Kendall's tau-b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from evaluator.schema import Case, Score
from evaluator.stats.ranks import kendall_tau_b
from evaluator.suites.board import Board
from evaluator.suites.cutcraft.data import prompt_of
from evaluator.suites.cutcraft.dimensions.a3 import ORDER_FREE
from evaluator.suites.cutcraft.groups import overall, samples
from evaluator.suites.cutcraft.merge import events
from evaluator.suites.cutcraft.scoring import GRADE_VECTORS, LAMBDA, QUESTION_WEIGHT, causality, chain_score

LAMBDAS = (0.0, 0.1, LAMBDA, 0.5, 0.7)
WEIGHTS = (0.0, 0.25, QUESTION_WEIGHT, 0.75, 1.0)


@dataclass(frozen=True, slots=True)
class Variant:
    """One other choice: the metric that it changes and the value of a record under it (None: no value)."""

    name: str
    metric: str
    value: Callable[[Score, Case], float | None]


def variants() -> list[Variant]:
    """Every other choice, defaults included, so that a table shows that they give the records' own values."""
    grades = [Variant(f"A2 grades {'/'.join(map(str, vector))}", "a2", _graded(vector)) for vector in _vectors()]
    kept = [Variant(f"A3 lambda {value:g}", "a3", _causal(value, QUESTION_WEIGHT)) for value in LAMBDAS]
    weights = [Variant(f"A3 weight of the counterfactual {value:g}", "a3", _causal(LAMBDA, value)) for value in WEIGHTS]
    return [*grades, *kept, *weights]


def a2_value(score: Score, vector: Sequence[float]) -> float:
    """A2 of a record with other grades. A record of a wrong chain has none and stays 0."""
    lost = score.details.get("unanswered", ())
    grades = [grade for place, grade in enumerate(score.details.get("grades", ()), 1) if place not in lost]
    return events(grades, vector) if grades else 0.0


def a3_value(score: Score, order_free: bool, kept: float, weight: float) -> float | None:
    """A3 of a record with another lambda and weight."""
    details = score.details
    whole = [one for one in details["chains"] if one["forward"] is not None and one["reversed"] is not None]
    parts = [fmean(chain_score(one["forward"], one["reversed"], kept) for one in whole)] if whole else []
    there, back = details["threads_parts"]
    if there is not None and (order_free or back is not None):
        parts.append(there if order_free else chain_score(there, back, kept))
    counterfactual = fmean(parts) if parts else details["counterfactual"]
    return causality(details["question"], counterfactual, weight)


def board(cases: Sequence[Case], scores: Sequence[Score]) -> Board:
    """One row per variant: overall score of every system, and tau-b of the ranking with the default's."""
    known = {case.id: case for case in cases}
    default = _overall(cases, scores)
    systems = list(default)
    rows = []
    for variant in variants():
        changed = [_changed(score, variant, known) for score in scores]
        found = _overall(cases, changed)
        tau = kendall_tau_b([default[name] for name in systems], [found[name] for name in systems])
        rows.append((variant.name, tau[0] if tau else None, *(found[name] for name in systems)))
    notes = ("tau-b: agreement of the systems' ranking with the default's; none for fewer than three systems.",)
    return Board(
        "sensitivity", "Other choices, same answers", ("choice", "tau-b", *systems), tuple(rows), notes, decimals=4
    )


def _overall(cases: Sequence[Case], scores: Sequence[Score]) -> dict[str, float]:
    found = {system: overall(own) for system, own in samples(cases, scores).items()}
    return {system: value for system, value in found.items() if value is not None}


def _changed(score: Score, variant: Variant, cases: Mapping[str, Case]) -> Score:
    if score.metric != variant.metric or score.value is None or score.case not in cases:
        return score
    value = variant.value(score, cases[score.case])
    return score if value is None else replace(score, value=value)


def _vectors() -> list[tuple[float, ...]]:
    return list(GRADE_VECTORS.values())


def _graded(vector: Sequence[float]) -> Callable[[Score, Case], float | None]:
    return lambda score, case: a2_value(score, vector)


def _causal(kept: float, weight: float) -> Callable[[Score, Case], float | None]:
    return lambda score, case: a3_value(score, prompt_of(case).montage in ORDER_FREE, kept, weight)
