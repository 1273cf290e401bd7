"""CutCraft's sixteen dimensions, one module each: what it looks at, what it asks, and how its score comes about."""

from __future__ import annotations

from evaluator.metrics.base import Metric
from evaluator.suites.cutcraft.dimensions import a1, a2, a3, a4, b1, b2, b3, c1, d1, d2, d3, e1, e2, e3, f1, f2
from evaluator.suites.cutcraft.flags import Defects

MODULES = (a1, a2, a3, a4, b1, b2, b3, c1, d1, d2, d3, e1, e2, e3, f1, f2)


def all_of(defects: Defects) -> tuple[Metric, ...]:
    """The sixteen metrics of one profile, A1 to F2."""
    return tuple(module.metric(defects) for module in MODULES)
