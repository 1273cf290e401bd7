"""What a suite is: one protocol's metrics, which of them apply to a case, and what it expects under `data`.

A suite is one package under `evaluator/suites/` that defines `SUITE`. It knows its paper; it never touches media.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import BaseModel

from evaluator.metrics.base import Metric
from evaluator.schema import Case


def all_metrics(suite: Suite, case: Case) -> tuple[Metric, ...]:
    """Every metric of the suite applies to every case."""
    return suite.metrics


@dataclass(frozen=True, slots=True)
class Suite:
    """One protocol. `active` routes a case to the metrics that its branch or category calls for."""

    id: str
    title: str
    paper: str
    metrics: tuple[Metric, ...]
    profiles: tuple[str, ...] = ("paper",)
    data: type[BaseModel] | None = None
    active: Callable[[Suite, Case], tuple[Metric, ...]] = all_metrics

    def metric(self, metric_id: str) -> Metric:
        """The metric of that id. Raises KeyError."""
        return {metric.id: metric for metric in self.metrics}[metric_id]
