"""Which metrics run on a case: the objective ones by branch (spec section 2), the judged ones on every case.

Profile `compat` routes as the reference does, by the label as published: what its normaliser does not know becomes
joint, so that a case labelled `speech_edit` or `S2.1`, or not at all, loses its speech metrics.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.metrics.base import Metric
from evaluator.schema import Case
from evaluator.suites.ave_compass.branches import BRANCHES, Branch, branch_of, compat_objective_branch
from evaluator.suites.base import Suite

ROUTING: Mapping[str, frozenset[Branch]] = {
    "lip_sync": frozenset({"speech"}),
    "av_sync": frozenset({"joint", "speech", "audio-only"}),
    "video_aesthetic": frozenset({"joint", "speech", "video-only"}),
    "subject_consistency": frozenset({"joint", "speech", "video-only"}),
    "motion_smoothness": frozenset({"joint", "speech", "video-only"}),
    "audio_aesthetic": frozenset({"joint", "speech", "audio-only"}),
    "speech_quality": frozenset({"speech"}),
    "videoclip_video_similarity": frozenset({"audio-only"}),
    "audio_similarity": frozenset({"video-only"}),
}
"""Objective metric -> branches that it is active on, in the order in which the reference evaluates them."""

HEADLINE = tuple(ROUTING)[:7]
"""The columns of the paper's table; the last two say whether the untouched stream survived."""

EVERYWHERE = frozenset(BRANCHES)


def branch_for(case: Case, profile: str) -> Branch:
    """The branch that a case is scored as. Raises ValueError for a category that `examine` would have refused.

    In `compat` a published label counts as it stands, an empty one too; only a manifest by hand has none.
    """
    if profile == "compat":
        label = case.data.get("branch_label")
        return compat_objective_branch(case.category if label is None else str(label))
    branch = branch_of(case.category)
    if branch is None:
        raise ValueError(f"case {case.id}: {case.category!r} is no branch of AVE-Compass")
    return branch


def active(suite: Suite, case: Case, profile: str) -> tuple[Metric, ...]:
    """The metrics of one case; a metric without a row in the table runs on every branch."""
    branch = branch_for(case, profile)
    return tuple(metric for metric in suite.metrics if branch in ROUTING.get(metric.id, EVERYWHERE))
