"""AV Consistency (section 2), coupled edits only: the judge describes picture and sound first, then grades.

The description is the protocol's, so this dimension is answered in JSON in every profile; an answer that has not the
form is asked for once more.
"""

from __future__ import annotations

from evaluator.metrics.second_chance import once_more, settling
from evaluator.suites.avenue import items
from evaluator.suites.avenue.grading import by_number, dimension, judged, whole

METRIC = dimension(
    "av_consistency",
    "AV consistency (AVC)",
    "A judge's grade of whether picture and sound of a coupled edit belong together, with examples.",
    items.consistency,
    once_more(judged("av_consistency", "avenue_av_consistency", items.consistency)),
    settling(whole(items.consistency, by_number)),
    version=3,
)
