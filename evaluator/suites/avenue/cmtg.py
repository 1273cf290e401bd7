"""CMTG (section 2.4): a judge's grade of how well an edit is timed to its trigger in the other modality."""

from __future__ import annotations

from evaluator.suites.avenue import items
from evaluator.suites.avenue.grading import dimension, judged, whole

METRIC = dimension(
    "cmtg",
    "Cross-modal timing (CMTG)",
    "A judge's grade of whether the edit happens when its trigger happens.",
    items.timing,
    judged("cmtg", "avenue_timing", items.timing),
    whole(items.timing),
    version=2,
    paper="AVENUE, spec section 2.4",
)
