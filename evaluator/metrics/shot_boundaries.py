"""How many transitions a clip has, and where.

Not simply the number of shots less one: a transition at the first or the last frame separates nothing, yet it is there.
"""

from __future__ import annotations

from evaluator.experts.features import ShotScores
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.shots import THRESHOLD, transition_table
from evaluator.schema import ExpertNeed


def compute(scores: ShotScores) -> Outcome:
    """Number of maximal runs of frames above the threshold. `raw` is the largest probability of any frame."""
    transitions = transition_table(scores)
    details = {"transitions": transitions, "threshold": THRESHOLD}
    return Outcome(float(len(transitions)), raw=float(scores.probability.max()), details=details)


METRIC = Metric(
    id="shot_boundaries",
    version=1,
    title="Shot boundaries",
    summary="Number of transitions between shots, with their frames and probabilities.",
    direction=Direction.NONE,
    range=(0.0, None),
    unit="transitions",
    paper="CutCraft 4.1 (transitions from scores), at TransNetV2's own threshold 0.5",
    needs={"scores": ExpertNeed("shot_boundaries")},
    compute=compute,
)
