"""Perceptual Quality (section 2): technical quality of the edited modality, never whether the edit is right."""

from __future__ import annotations

from evaluator.suites.avenue import items
from evaluator.suites.avenue.grading import dimension, judged, whole

METRIC = dimension(
    "perceptual_quality",
    "Perceptual quality (PQ)",
    "A judge's grade of the technical quality of the edited modality.",
    items.quality,
    judged("perceptual_quality", "avenue_quality", items.quality),
    whole(items.quality),
    version=2,
)
