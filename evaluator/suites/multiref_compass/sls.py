"""SLS, speech-lip sync (section 3.6): SyncNet's confidence over face tracks, after a judge's pre-screen.

The arithmetic is the published one: per shift the mean distance of lip and sound over a track, confidence = median -
least, offset = reach - place of the least; the clip's value is the mean over its tracks, each of more than 50 frames of
25 a second with a face of more than 100 pixels. Where SyncNet and S3FD are mounted it is the published measurement.
With SyncNet alone the most prominent face of each frame stands in for all faces by S3FD, and the record says so.

Without SyncNet the mouth's opening is compared with the level of the voice band, z-scored over the track, by their root
mean square difference. Such a confidence is smaller (0 to about 1, not 10), so that its values share nothing with
published ones but their direction.

A clip that the judge screens out, and one without a track, is `filtered`. Without a judge nothing is screened, and
`sls` is empty; `sls_unscreened` needs none and says what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.face_tracks import LEAST_TICKS, tracks
from evaluator.experts.features import FaceTrack, LipTracks, WindowEmbeddings
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.media.types import F32, F64, Audio, ClipInfo
from evaluator.metrics import alignment
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import ALL_FRAMES, AudioNeed, Case, ClipNeed, ExpertNeed, FramesNeed, Need
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.choices import FRONTAL_SHARE
from evaluator.suites.multiref_compass.grading import MOTION, evidence

REACH = 15
"""Ticks of 0.04 s to either side."""
PROMPT = "multiref_screen"


def confidence(distance: F64) -> tuple[float, int]:
    """(median - least, offset in ticks) of the mean distances [2 reach + 1] by shift, the first one at -reach."""
    least = int(np.argmin(distance))
    return float(np.median(distance) - distance[least]), len(distance) // 2 - least


def distances(faces: FaceTrack, rows: slice, sound: Audio) -> F64 | None:
    """Mean distance of mouth and voice per shift [31]; None where fewer than two seconds have both."""
    time, opening = faces.time[rows], faces.mouth_opening[rows].astype(np.float64)
    clock = alignment.ticks(float(time[0]), float(time[-1]))
    reach = REACH / alignment.TICKS_PER_SECOND
    mouth = alignment.syllables(alignment.sample_track(time, opening, clock))
    wide = alignment.ticks(float(clock[0]) - reach, float(clock[-1]) + reach)
    voice = alignment.syllables(alignment.sample_voice(sound, wide))
    found = []
    for shift in range(2 * REACH + 1):
        heard = voice[shift : shift + len(mouth)]
        known = np.isfinite(mouth[: len(heard)]) & np.isfinite(heard)
        if known.sum() < LEAST_TICKS:
            return None
        found.append(_apart(mouth[: len(heard)][known], heard[known]))
    return np.array(found)


def _apart(one: F64, other: F64) -> float:
    """Root mean square difference of two z-scored series, 0 .. 2; a constant one is as far as an unrelated one."""
    if one.std() == 0 or other.std() == 0:
        return float(np.sqrt(2.0))
    return float(np.sqrt(np.mean(((one - one.mean()) / one.std() - (other - other.mean()) / other.std()) ** 2)))


def syncnet_distances(lips: F32, voice: F32) -> F64:
    """Mean distance per shift [31] of vectors [F, D] and [F, D]; beyond the ends the sound is a zero vector."""
    padded = np.pad(voice.astype(np.float64), ((REACH, REACH), (0, 0)))
    seen = lips.astype(np.float64)
    return np.array(
        [np.linalg.norm(seen - padded[shift : shift + len(seen)], axis=1).mean() for shift in range(2 * REACH + 1)]
    )


def compute_syncnet(lips: LipTracks, voice: WindowEmbeddings) -> Outcome:
    """Mean confidence over the tracks. Raises NotApplicable `filtered` without a track that sound goes with."""
    curves = []
    for track in lips.tracks:
        heard = voice.vectors[track.first : track.first + len(track.vectors)]
        if len(heard):
            curves.append(syncnet_distances(track.vectors[: len(heard)], heard))
    found = mean_confidence(curves, len(lips.tracks))
    return replace(found, details={**found.details, "tracks_started": lips.started})


def compute(faces: FaceTrack, sound: Audio, clip: ClipInfo) -> Outcome:
    """The stand-in: mean confidence over the tracks. Raises NotApplicable `filtered` without one to follow."""
    if clip.video is None:
        raise NotApplicable("not_applicable", "the clip has no pictures")
    found = tracks(faces, clip.video.width, clip.video.height)
    curves = [curve for rows in found if (curve := distances(faces, rows, sound)) is not None]
    return mean_confidence(curves, len(found))


def mean_confidence(curves: Sequence[F64], tracks: int) -> Outcome:
    """The value of a clip from the distances of its tracks."""
    if not curves:
        raise NotApplicable("filtered", f"no face track of two seconds with a mouth and a voice ({tracks} tracks)")
    each = [confidence(curve) for curve in curves]
    details = {
        "tracks": [{"confidence": value, "offset_ticks": offset} for value, offset in each],
        "dropped": tracks - len(curves),
    }
    return Outcome(max(0.0, float(np.mean([value for value, _ in each]))), details=details)


def ask(case: Case, frames: Any, **media: Any) -> Sequence[Question]:
    """The pre-screen."""
    parts = evidence(case, Item("screen", ""), {"frames": frames})
    return [load(PROMPT).ask(f"{case.id}/sls/screen", parts, {"prompt": case.prompt})]


def passes(screen: dict[str, Any]) -> bool:
    """Whether all four answers of the pre-screen let a clip through."""
    return bool(
        screen["speaking_face_visible"]
        and screen["frontal_share"] >= FRONTAL_SHARE
        and screen["stable_scale"]
        and screen["single_active_speaker_per_shot"]
    )


def screened(compute: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """`compute` for clips that the judge lets through; others are `filtered`."""

    def compute_screened(answers: Sequence[Answer], frames: Any, **needs: Any) -> Outcome:
        answer = accepted(answers[0])
        if not passes(answer.value):
            raise NotApplicable("filtered", f"pre-screen: {answer.value}")
        found = compute(**needs)
        details = {**found.details, "screen": answer.value, "ledger_key": answer.key, "evidence": "native"}
        return Outcome(found.value, details=details)

    return compute_screened


SIGNALS: dict[str, Need] = {"faces": ExpertNeed("faces", sampling=ALL_FRAMES), "sound": AudioNeed(), "clip": ClipNeed()}
EMBEDDED: dict[str, Need] = {"lips": ExpertNeed("face_lip_embedding"), "voice": ExpertNeed("voice_embedding")}
PUBLISHED = {"faces": "SyncNet of LatentSync on S3FD tracks"}


def _metric(metric_id: str, title: str, summary: str) -> Metric:
    return Metric(
        id=metric_id,
        version=1,
        title=title,
        summary=summary,
        direction=Direction.HIGHER,
        range=(0.0, None),
        unit="",
        paper="MultiRef-Compass, spec section 3.6",
        needs=EMBEDDED,
        compute=compute_syncnet,
        instead=Metric(
            id=metric_id,
            version=1,
            title=f"{title}, proxy",
            summary=summary,
            direction=Direction.HIGHER,
            range=(0.0, None),
            unit="",
            paper="stand-in for MultiRef-Compass, spec section 3.6",
            needs=SIGNALS,
            compute=compute,
            stands_in_for=PUBLISHED,
        ),
    )


def _screened(metric: Metric) -> Metric:
    """The metric behind the judge's pre-screen, and its stand-in likewise."""
    return replace(
        metric,
        needs={"frames": FramesNeed(MOTION), **metric.needs},
        compute=screened(metric.compute),
        judged=Judged(ask, ("prompt",), (PROMPT,)),
        instead=_screened(metric.instead) if metric.instead else None,
    )


SLS = _screened(
    _metric(
        "sls",
        "Speech-lip sync (SLS)",
        "Confidence that lips and voice belong together, over face tracks that a judge found fit to be followed.",
    )
)
UNSCREENED = _metric(
    "sls_unscreened", "Speech-lip sync, not screened", "The same without a judge's pre-screen, so for any face."
)
METRICS = (SLS, UNSCREENED)
