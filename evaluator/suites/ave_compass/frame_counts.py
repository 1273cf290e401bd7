"""Containers that miscount their frames: told in the record, and trusted in profile compat only (spec 3.3, pitfall 24).

Frames are those that decode. Where the container's header says otherwise by more than one, the metrics that sample
frames carry `frame_count_mismatch`, with both counts per clip. The published code samples by the header's count and
leaves out what it cannot seek to, so that a clip with fewer frames than promised is looked at more thinly; compat does
the same by the sampling rules `ave_f1_promised` and `linspace_promised`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from evaluator.media.types import ClipInfo
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ClipNeed, Sampling

CODE = "frame_count_mismatch"
TOLERATED = 1  # frames
TRUSTED = {"ave_f1": "ave_f1_promised", "linspace": "linspace_promised"}
"""Rule over the frames that are there -> the same over those that the container promises."""


def mismatch(clip: ClipInfo) -> Mapping[str, int]:
    """Both counts of a clip whose container promises other frames than it has; empty for all others."""
    if clip.video is None or not clip.video.promised or abs(clip.video.promised - clip.video.frames) <= TOLERATED:
        return {}
    return {"container": clip.video.promised, "decoded": clip.video.frames}


def _told(measure: Callable[..., Outcome], roles: Mapping[str, str], **found: Any) -> Outcome:
    """What `measure` finds, with the counts of the clips that were given beside its own needs."""
    counts = {role: mismatch(found.pop(name)) for name, role in roles.items()}
    outcome = measure(**found)
    wrong = {role: both for role, both in counts.items() if both}
    return replace(outcome, details={**outcome.details, **({CODE: wrong} if wrong else {})})


def told(metric: Metric, *roles: str) -> Metric:
    """`metric`, and what stands in for it, with the counts of these clips in its details."""
    clips = {f"{role}_clip": role for role in roles}
    return replace(
        metric,
        needs={**metric.needs, **{name: ClipNeed(role) for name, role in clips.items()}},
        compute=partial(_told, metric.compute, clips),
        instead=told(metric.instead, *roles) if metric.instead else None,
    )


def trusting(sampling: Sampling) -> Sampling:
    """The sampling as the published code does it: by the container's count."""
    return Sampling(TRUSTED[sampling.rule], sampling.params)
