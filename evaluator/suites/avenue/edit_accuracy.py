"""Edit Accuracy (section 2): are the changes there, and is what had to stay intact, in the edited modality."""

from __future__ import annotations

from evaluator.suites.avenue import items
from evaluator.suites.avenue.grading import dimension, judged, whole

METRIC = dimension(
    "edit_accuracy",
    "Edit accuracy (EA)",
    "A judge's grade of whether the listed changes were made and nothing listed was damaged.",
    items.edit_accuracy,
    judged("edit_accuracy", "avenue_edit_accuracy", items.edit_accuracy),
    whole(items.edit_accuracy),
    version=2,
)
