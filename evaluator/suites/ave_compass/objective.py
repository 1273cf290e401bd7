"""The nine objective metrics of AVE-Compass in their three profiles (spec sections 2 to 4): the lists.

They are the metrics of the core with what this protocol adds: the silence rule, the reference's preprocessing in
`compat`, the opt-in corrections in `strict`. What a profile does not name is as in `paper`.

The spec's statuses as records: `not_active` has no record; `silent` and `no_audio_stream` are 0.0 with `silent` and
`audio_stream` in the details (`compat`: no stream is skipped); `too_short`, `no_face` and `no_video_stream` are skipped
as not_applicable, `model_missing` as unavailable; `error` is failed, with its code.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.metrics import audio_similarity, motion_smoothness
from evaluator.metrics.base import Metric
from evaluator.suites.ave_compass import lip_sync, lip_sync_faces, pictures, preservation, sound

OBJECTIVE: tuple[Metric, ...] = (
    lip_sync.METRIC,
    sound.AV_SYNC,
    pictures.AESTHETIC,
    pictures.SUBJECT,
    motion_smoothness.METRIC,
    sound.AUDIO_AESTHETIC,
    sound.SPEECH_QUALITY,
    preservation.VIDEO_SIMILARITY,
    audio_similarity.METRIC,
)
"""In the order in which the reference evaluates them."""

VARIANTS: Mapping[str, Mapping[str, Metric]] = {
    "compat": {
        metric.id: metric
        for metric in (
            lip_sync.COMPAT,
            sound.AV_SYNC_COMPAT,
            pictures.AESTHETIC_COMPAT,
            pictures.SUBJECT_COMPAT,
            pictures.MOTION_COMPAT,
            sound.AUDIO_AESTHETIC_COMPAT,
            sound.SPEECH_QUALITY_COMPAT,
            preservation.VIDEO_SIMILARITY_COMPAT,
            preservation.AUDIO_SIMILARITY_COMPAT,
        )
    },
    "strict": {
        metric.id: metric
        for metric in (
            lip_sync_faces.STRICT,
            sound.AV_SYNC_STRICT,
            pictures.MOTION_STRICT,
            sound.SPEECH_QUALITY_STRICT,
            preservation.AUDIO_SIMILARITY_STRICT,
        )
    },
}
"""Profile -> metric id -> the metric as that profile defines it."""
