"""How many shots a clip has (scene rule of CutCraft 4.1 on transition probabilities)."""

from __future__ import annotations

from evaluator.experts.features import ShotScores
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.shots import THRESHOLD, shot_table, transition_table
from evaluator.schema import ExpertNeed


def compute(scores: ShotScores) -> Outcome:
    """Number of shots, at least 1. Details list shots and transitions. Raises NotApplicable without a frame."""
    shots, transitions = shot_table(scores), transition_table(scores)
    details = {"shots": shots, "transitions": transitions, "threshold": THRESHOLD, "frames": len(scores.probability)}
    return Outcome(float(len(shots)), details=details)


METRIC = Metric(
    id="shot_count",
    version=1,
    title="Shots",
    summary="Number of shots between the transitions that the detector finds.",
    direction=Direction.NONE,
    range=(1.0, None),
    unit="shots",
    paper="CutCraft 4.1 (scenes from scores), at TransNetV2's own threshold 0.5",
    needs={"scores": ExpertNeed("shot_boundaries")},
    compute=compute,
)
