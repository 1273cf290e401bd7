"""AVENUE: modality-selective audio-video editing (arXiv 2609.04253), by our specification of what its summary says.

Does a system change what the prompt asks for, and leave the rest, often a whole modality, alone? Judged dimensions by
scope (A audio-targeted, B video-targeted, C coupled), embedding metrics without a judge, null edits, edits at a trigger
in the other modality, and direct comparison in both orders. Neither code nor prompts of the paper could be read: what
had to be decided is listed in `choices`.

Profiles: `paper` asks one question per item; `compat` asks Modality Selectivity as the paper does, all items in one
JSON answer; `curation` measures the source clips for `evaluator filter`.
"""

from __future__ import annotations

from evaluator.metrics.base import Metric
from evaluator.schema import Case
from evaluator.suites.avenue import (
    av_consistency,
    choices,
    cmtg,
    curation,
    edit_accuracy,
    modality_selectivity,
    pairwise,
    perceptual_quality,
    prompt_match,
    prompts,
    similarity,
    trigger_timing,
)
from evaluator.suites.avenue.boards import boards
from evaluator.suites.avenue.data import AUDIO, EDITED, VIDEO, AvenueData, examine, of
from evaluator.suites.avenue.layout import importer
from evaluator.suites.avenue.matching import prepare
from evaluator.suites.base import Suite

JUDGED: tuple[Metric, ...] = (
    edit_accuracy.METRIC,
    *modality_selectivity.METRICS,
    perceptual_quality.METRIC,
    av_consistency.METRIC,
)
TIMED = (cmtg.METRIC, trigger_timing.METRIC)
EMBEDDED = (*similarity.METRICS, *prompt_match.METRICS)


def active(suite: Suite, case: Case, profile: str) -> tuple[Metric, ...]:
    """What is scored of a case (sections 2 to 4)."""
    if profile == curation.PROFILE:
        return curation.METRICS
    if pairwise.is_pair(case):
        return tuple(metric for metric in pairwise.METRICS if pairwise.applies(metric, case))
    data = of(case)
    if data.null_edit:
        return (*modality_selectivity.METRICS, *similarity.METRICS)
    judged = tuple(metric for metric in JUDGED if not _left_out(metric, data))
    return (*judged, *(TIMED if data.trigger else ()), *(metric for metric in EMBEDDED if _told(metric, data)))


def _left_out(metric: Metric, data: AvenueData) -> bool:
    """Selectivity needs a modality that had to stay, consistency two that had to change together."""
    coupled = data.scope == "C"
    return metric in modality_selectivity.METRICS if coupled else metric is av_consistency.METRIC


def _told(metric: Metric, data: AvenueData) -> bool:
    """A target prompt is compared with the modality that was edited."""
    about = {prompt_match.TEXT_AUDIO.id: AUDIO, prompt_match.TEXT_VIDEO.id: VIDEO}.get(metric.id)
    return about is None or about in EDITED[data.scope]


SUITE = Suite(
    id="avenue",
    title="AVENUE",
    paper="arXiv 2609.04253 (summary only; formulas largely ours)",
    metrics=(*JUDGED, *TIMED, *EMBEDDED, *pairwise.METRICS, *curation.METRICS),
    profiles=("paper", "compat", curation.PROFILE),
    variants={"compat": modality_selectivity.COMPAT},
    data=AvenueData,
    active=active,
    examine=examine,
    importer=importer,
    prepare=prepare,
    bounds=curation.BOUNDS,
    corpora=prompts.board,
    case_needs={
        "clip_image": ("v_clip",),
        "frame_distance": ("lpips",),
        "clap_audio": ("clap",),
        "clap_text_audio": ("text_audio", "curation_audio_language"),
        "clip_text_image": ("text_video",),
        "imagebind_av": ("audio_video",),
    },
    choices=choices.CHOICES,
    boards=boards,
)
