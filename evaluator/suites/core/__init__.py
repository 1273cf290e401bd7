"""The suite `core`: every metric that needs no protocol, for any generated or edited clip.

Metrics that compare with a source are skipped for a case without one, and those whose model is not there are skipped as
unavailable. The order is that of tables.
"""

from __future__ import annotations

from evaluator.metrics import (
    audio_aesthetic,
    audio_similarity,
    av_sync,
    dnsmos,
    face_presence,
    lip_sync,
    loudness,
    lpips,
    motion_smoothness,
    msm,
    plcmos,
    prompt_following,
    shot_boundaries,
    shot_count,
    silence,
    speaker_similarity,
    speech_likelihood,
    speech_quality,
    speech_ratio,
    ssim,
    subject_consistency,
    video_aesthetic,
    video_similarity,
)
from evaluator.metrics.base import Metric
from evaluator.suites.base import Suite

METRICS: tuple[Metric, ...] = (
    # pictures
    shot_count.METRIC,
    shot_boundaries.METRIC,
    subject_consistency.METRIC,
    motion_smoothness.METRIC,
    msm.METRIC,
    video_aesthetic.METRIC,
    face_presence.METRIC,
    prompt_following.METRIC,
    # sound
    speech_quality.METRIC,
    dnsmos.METRIC,
    plcmos.METRIC,
    audio_aesthetic.METRIC,
    speech_ratio.METRIC,
    speech_likelihood.METRIC,
    loudness.METRIC,
    silence.METRIC,
    # pictures and sound together
    lip_sync.METRIC,
    av_sync.METRIC,
    # against the source
    video_similarity.METRIC,
    audio_similarity.METRIC,
    ssim.METRIC,
    lpips.METRIC,
    speaker_similarity.METRIC,
)

SUITE = Suite(
    id="core",
    title="Core",
    paper="the metrics of AVE-Compass, CoVEBench and CutCraft that need no protocol",
    metrics=METRICS,
)
