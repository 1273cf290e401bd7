"""Which tasks a metric leaves out: the published lists as data, read strictly, counted, and really applied.

A task on a metric's list gets a record `skipped: filtered`, costs nothing, and is counted in the tables. The published
lists (exclusions.json: 166 tasks for SSIM and MF, 305 for MSM) hold for every case by its task number, unless the case
says otherwise in `data.excluded`; `evaluator manifest covebench --set exclusions=none` or `=FILE` writes that, FILE
being JSON of the same form. Source: CoVEBench 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from evaluator.errors import NotApplicable, UsageError
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import Case, Need

Lists = Mapping[str, frozenset[int]]
"""Metric -> tasks that it leaves out."""

MOST = 1_000_000
"""The largest task number of a list: a range takes memory. The benchmark has 626 tasks."""


@cache
def published() -> Lists:
    """The lists of the benchmark."""
    return read((files("evaluator.suites.covebench") / "exclusions.json").read_bytes(), "exclusions.json")


def read(data: bytes, name: str) -> Lists:
    """Lists from JSON: `{"lists": [{"metrics": [...], "count": n, "sum": s, "tasks": "1-2,5"}]}`; `sum` is optional.

    Raises UsageError for another form, and where a list has not as many tasks, or not the sum, that it claims.
    """
    try:
        found: dict[str, frozenset[int]] = {}
        for entry in orjson.loads(data)["lists"]:
            tasks = _checked(entry, name)
            for metric in entry["metrics"]:
                found[metric] = found.get(metric, frozenset()) | tasks
        return found
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{name}: not a file of exclusion lists ({type(error).__name__}: {error})") from error


def _checked(entry: Mapping[str, Any], name: str) -> frozenset[int]:
    tasks = numbers(entry["tasks"])
    if len(tasks) != entry["count"] or sum(tasks) != entry.get("sum", sum(tasks)):
        claimed = f"{entry['count']} tasks with sum {entry.get('sum', 'unstated')}"
        raise UsageError(f"{name}: {entry['metrics']}: expected {claimed}, found {len(tasks)} with sum {sum(tasks)}")
    return tasks


def numbers(text: str) -> frozenset[int]:
    """ "1-3,7" -> {1, 2, 3, 7}. ValueError for what is no such list, or goes beyond MOST."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= MOST:
            raise ValueError(f"{part!r} is no range of task numbers from 1 to {MOST}")
        found.update(range(low, high + 1))
    return frozenset(found)


def spans(tasks: frozenset[int] | set[int]) -> str:
    """{1, 2, 3, 7} -> "1-3,7": the inverse of `numbers`."""
    parts: list[list[int]] = []
    for task in sorted(tasks):
        if parts and parts[-1][1] == task - 1:
            parts[-1][1] = task
        else:
            parts.append([task, task])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def left_out(case: Case, metric: str) -> bool:
    """Whether a metric leaves a case out."""
    own = case.data.get("excluded")
    if own is not None:
        return metric in own
    return case.data.get("task") in published().get(metric, frozenset())


def excluding(metric: Metric) -> Metric:
    """The same metric, but a case that it leaves out needs nothing and is skipped as `filtered`."""

    def needs_of(case: Case) -> Mapping[str, Need]:
        return {} if left_out(case, metric.id) else metric.needs_for(case)

    def compute(case: Case, **given: Any) -> Outcome:
        if left_out(case, metric.id):
            raise NotApplicable("filtered", f"Task {case.data.get('task')} is on the exclusion list of {metric.id}.")
        return metric.compute(**({"case": case} if metric.reads else {}), **given)

    reads = tuple(dict.fromkeys([*metric.reads, "data"]))
    instead = excluding(metric.instead) if metric.instead else None
    return replace(metric, needs={}, needs_of=needs_of, compute=compute, reads=reads, instead=instead)
