"""The list of cases and what is told of each, as the page's scripts read it, within budgets of bytes.

One row per case: names as numbers into lists, and per metric of its suite a value, or the number of a reason as text
("3"), or null where there is no record. Details (raw figures, messages, questions) are given for as many cases as fit:
those with a failure first, then in the order of the run. Knows records and facts; draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from evaluator.report.page.facts import CaseFacts, Facts
from evaluator.schema import Score, Status

LIST_BYTES = 10 << 20
DETAIL_BYTES = 7 << 20
VALUE_DIGITS = 5
"""Significant digits of a value in the list; details hold what the record holds."""


class Numbering:
    """Distinct things in order of first appearance, by number."""

    def __init__(self) -> None:
        self._places: dict[Any, int] = {}

    def __getitem__(self, thing: Any) -> int:
        return self._places.setdefault(thing, len(self._places))

    @property
    def things(self) -> list[Any]:
        """All that were numbered."""
        return list(self._places)


@dataclass(slots=True)
class CaseList:
    """Rows in the order of the run, cut where the budget ends; `total` counts all cases."""

    total: int
    rows: list[list[Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)  # of the rows
    names: dict[str, list[Any]] = field(default_factory=dict)  # what the numbers in the rows mean


def by_case(scores: Iterable[Score]) -> dict[str, list[Score]]:
    """Case -> its records, in the order of the run."""
    found: dict[str, list[Score]] = {}
    for score in scores:
        found.setdefault(score.case, []).append(score)
    return found


def list_cases(
    cases: Mapping[str, Sequence[Score]],
    metrics: Mapping[str, Sequence[str]],
    facts: Facts,
    budget: int = LIST_BYTES,
) -> CaseList:
    """Rows [id, suite, system, category, difficulty, values]; `metrics`: suite -> the metrics of its columns."""
    names = {name: Numbering() for name in ("suites", "systems", "categories", "difficulties", "reasons")}
    for suite in metrics:
        names["suites"][suite]  # numbered as the page shows them
    found = CaseList(len(cases))
    for case, scores in cases.items():
        known, suite = facts.of(case), scores[0].suite
        values = {score.metric: _value(score, names["reasons"]) for score in scores}
        row = [
            case,
            names["suites"][suite],
            names["systems"][scores[0].system],
            names["categories"][known.category],
            names["difficulties"][known.difficulty],
            [values.get(metric) for metric in metrics[suite]],
        ]
        budget -= len(orjson.dumps(row)) + 1
        if budget < 0:
            break
        found.rows.append(row)
        found.ids.append(case)
    found.names = {name: numbers.things for name, numbers in names.items()}
    return found


def _value(score: Score, reasons: Numbering) -> float | str:
    if score.value is not None:
        return float(f"{score.value:.{VALUE_DIGITS}g}")
    code = score.reason.code if score.reason else ""
    return str(reasons[str(score.status), code])


def choose_detailed(cases: Mapping[str, Sequence[Score]], listed: Iterable[str]) -> list[str]:
    """The listed cases in the order in which they get details: failures first."""
    listed = list(listed)
    failed = {case for case in listed if any(score.status is Status.FAILED for score in cases[case])}
    return [case for case in listed if case in failed] + [case for case in listed if case not in failed]


def detail(scores: Sequence[Score], known: CaseFacts, models: Numbering) -> dict[str, Any]:
    """Everything about one case that its records and its line in the manifest say."""
    return {
        "prompt": known.prompt,
        "video": known.video,
        "source": known.source,
        "references": list(known.references),
        "labels": known.labels,
        "records": [_record(score, models) for score in scores],
    }


def _record(score: Score, models: Numbering) -> dict[str, Any]:
    reason = score.reason
    return {
        "metric": score.metric,
        "status": str(score.status),
        "value": score.value,
        "raw": score.raw,
        "reason": {"code": reason.code, "message": reason.message} if reason else None,
        "details": score.details,
        "models": [models[model] for model in score.models],
        "profile": score.profile,
    }


def fitting(
    cases: Mapping[str, Sequence[Score]], chosen: Iterable[str], facts: Facts, budget: int = DETAIL_BYTES
) -> list[str]:
    """Those of the chosen cases, from the first on, whose records fit into the budget."""
    found = []
    for case in chosen:
        budget -= len(orjson.dumps(detail(cases[case], facts.of(case), Numbering())))
        if budget < 0:
            break
        found.append(case)
    return found
