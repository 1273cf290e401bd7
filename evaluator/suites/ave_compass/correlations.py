"""Rank correlation of all scores with each other (spec 7.11): seven objective columns and twelve judged ones.

The paper does not state its unit. Here: (system, case) rows, pairwise complete, average ranks for ties. A pair with
fewer than ten rows, or with a column that does not vary, has no correlation; None, never 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np

from evaluator.schema import Case
from evaluator.stats.ranks import rank_correlation
from evaluator.suites.ave_compass.cells import Records
from evaluator.suites.ave_compass.judged import FAMILIES, RESPONSE, metric_id
from evaluator.suites.ave_compass.routing import HEADLINE
from evaluator.suites.ave_compass.scoring import SCOPES

Unit = Literal["pooled", "system", "within"]
"""Rows of all systems together, one row of means per system, or the mean of each system's own correlation."""

VARIABLES = (
    *HEADLINE,
    *(metric_id(family, scope) for family in FAMILIES if family != RESPONSE for scope in SCOPES),
)
LEAST = 10


@dataclass(frozen=True, slots=True)
class Correlation:
    """rho of one pair of columns, and how many rows it rests on."""

    rho: float | None
    n: int


Column = dict[tuple[str, str], float]
"""(system, case) -> value."""


def column(records: Records, metric: str, cases: Iterable[Case]) -> Column:
    """The values of one metric on the basis (models, evidence) that most of its records share."""
    found = list(records.scored(cases, metric))
    grounds = Counter((score.models, score.details.get("evidence", "")) for _, score, _ in found)
    if not grounds:
        return {}
    common = grounds.most_common(1)[0][0]
    return {
        (case.system, case.id): value
        for case, score, value in found
        if (score.models, score.details.get("evidence", "")) == common
    }


def correlate(first: Column, second: Column, unit: Unit = "pooled", least: int = LEAST) -> Correlation:
    """rho over the rows that both columns have."""
    rows = [place for place in first if place in second]
    if unit == "within":
        own = [_rho(first, second, [row for row in rows if row[0] == system], least) for system in _systems(rows)]
        defined = [rho for rho in own if rho is not None]
        return Correlation(fmean(defined) if defined else None, len(rows))
    if unit == "system":
        first, second = _means(first, rows), _means(second, rows)
        rows = list(first)
    return Correlation(_rho(first, second, rows, least), len(rows))


def table(records: Records, unit: Unit = "pooled", least: int = LEAST) -> dict[tuple[str, str], Correlation]:
    """Every pair of variables that have values."""
    columns = {metric: column(records, metric, records.cases) for metric in VARIABLES}
    columns = {metric: values for metric, values in columns.items() if values}
    return {(a, b): correlate(columns[a], columns[b], unit, least) for a in columns for b in columns}


def _rho(first: Column, second: Column, rows: Sequence[tuple[str, str]], least: int) -> float | None:
    if len(rows) < least:
        return None
    return rank_correlation(np.array([first[row] for row in rows]), np.array([second[row] for row in rows]))


def _systems(rows: Iterable[tuple[str, str]]) -> list[str]:
    return list(dict.fromkeys(system for system, _ in rows))


def _means(values: Column, rows: Sequence[tuple[str, str]]) -> Column:
    return {(name, ""): fmean(values[row] for row in rows if row[0] == name) for name in _systems(rows)}
