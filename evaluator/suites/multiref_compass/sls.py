"""SLS, speech-lip sync (section 3.6): SyncNet's confidence over face tracks, after a judge's pre-screen.

The arithmetic is the published one: per shift the mean distance of lip and sound over a track, confidence = median -
least, offset = reach - place of the least; the clip's value is the mean over its tracks, each of more than 50 frames of
25 a second with a face of more than 100 pixels. The embedded signals stand in for SyncNet's embeddings: how far the
mouth opens against the level of the voice band, z-scored over the track, distance = their root mean square difference.
Such a confidence is smaller than SyncNet's (0 to about 1, not 10) and comes from the most prominent face alone, so that
its values share nothing with published ones but their direction.

A clip that the judge screens out, and one without a track, is `filtered`. Without a judge nothing is screened, and
`sls` is empty; `sls_unscreened` needs none and says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import FaceTrack
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.media.types import F64, Audio, ClipInfo
from evaluator.metrics import alignment
from evaluator.metrics.answers import accepted
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import ALL_FRAMES, AudioNeed, Case, ClipNeed, ExpertNeed, FramesNeed, Need
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.choices import FRONTAL_SHARE
from evaluator.suites.multiref_compass.grading import MOTION, evidence

REACH = 15
"""Ticks of 0.04 s to either side."""
LONGEST_GAP = 1.0
"""Seconds without a detection that do not end a track: 25 frames at 25 a second."""
SAME_FACE = 0.5
"""Least intersection over union of boxes that follow each other."""
LEAST_DETECTIONS, LEAST_SIDE = 50, 100.0
"""More than so many ticks of the clock, and more than so many pixels, mean of the larger side."""

PROMPT = "multiref_screen"


def confidence(distance: F64) -> tuple[float, int]:
    """(median - least, offset in ticks) of the mean distances [2 reach + 1] by shift, the first one at -reach."""
    least = int(np.argmin(distance))
    return float(np.median(distance) - distance[least]), len(distance) // 2 - least


def tracks(faces: FaceTrack, width: int, height: int) -> list[slice]:
    """Runs of frames that follow one face: boxes overlap by more than half, gaps of at most a second."""
    found = np.flatnonzero(faces.score > 0)
    runs: list[list[int]] = []
    for row in found.tolist():
        last = runs[-1][-1] if runs else None
        near = last is not None and faces.time[row] - faces.time[last] <= LONGEST_GAP
        if near and last is not None and overlap(faces.box[last], faces.box[row]) > SAME_FACE:
            runs[-1].append(row)
        else:
            runs.append([row])
    size = np.array([width, height, width, height], np.float64)
    return [slice(run[0], run[-1] + 1) for run in runs if _large(faces.box[run] * size) and _long(faces.time[run])]


def _large(boxes: F64) -> bool:
    sides = np.maximum(boxes[:, 2] - boxes[:, 0], boxes[:, 3] - boxes[:, 1])
    return bool(sides.mean() > LEAST_SIDE)


def _long(times: F64) -> bool:
    """More than fifty ticks of the clock, whatever the frame rate of the clip."""
    return bool((times[-1] - times[0]) * alignment.TICKS_PER_SECOND >= LEAST_DETECTIONS)


def overlap(one: Any, other: Any) -> float:
    """Intersection over union of two boxes [4]."""
    shared = np.clip(np.minimum(one[2:], other[2:]) - np.maximum(one[:2], other[:2]), 0, None).prod()
    union = (one[2:] - one[:2]).prod() + (other[2:] - other[:2]).prod() - shared
    return float(shared / union) if union > 0 else 0.0


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
        if known.sum() < LEAST_DETECTIONS:
            return None
        found.append(_apart(mouth[: len(heard)][known], heard[known]))
    return np.array(found)


def _apart(one: F64, other: F64) -> float:
    """Root mean square difference of two z-scored series, 0 .. 2; a constant one is as far as an unrelated one."""
    if one.std() == 0 or other.std() == 0:
        return float(np.sqrt(2.0))
    return float(np.sqrt(np.mean(((one - one.mean()) / one.std() - (other - other.mean()) / other.std()) ** 2)))


def compute(faces: FaceTrack, sound: Audio, clip: ClipInfo) -> Outcome:
    """Mean confidence over the tracks. Raises NotApplicable `filtered` without a track that can be followed."""
    if clip.video is None:
        raise NotApplicable("not_applicable", "the clip has no pictures")
    found = tracks(faces, clip.video.width, clip.video.height)
    curves = [curve for rows in found if (curve := distances(faces, rows, sound)) is not None]
    if not curves:
        raise NotApplicable("filtered", f"no face track of two seconds with a mouth and a voice ({len(found)} tracks)")
    each = [confidence(curve) for curve in curves]
    details = {
        "tracks": [{"confidence": value, "offset_ticks": offset} for value, offset in each],
        "dropped": len(found) - len(curves),
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


def compute_screened(answers: Sequence[Answer], frames: Any, faces: FaceTrack, sound: Audio, clip: ClipInfo) -> Outcome:
    """The same for clips that the judge lets through; others are `filtered`."""
    answer = accepted(answers[0])
    if not passes(answer.value):
        raise NotApplicable("filtered", f"pre-screen: {answer.value}")
    found = compute(faces, sound, clip)
    details = {**found.details, "screen": answer.value, "ledger_key": answer.key, "evidence": "native"}
    return Outcome(found.value, details=details)


_NEEDS: dict[str, Need] = {"faces": ExpertNeed("faces", sampling=ALL_FRAMES), "sound": AudioNeed(), "clip": ClipNeed()}
_STANDS_IN = {"faces": "SyncNet of LatentSync on S3FD tracks"}
SLS = Metric(
    id="sls",
    version=1,
    title="Speech-lip sync (SLS)",
    summary="Confidence that lips and voice belong together, over face tracks that a judge found fit to be followed.",
    direction=Direction.HIGHER,
    range=(0.0, None),
    unit="",
    paper="MultiRef-Compass, spec section 3.6",
    needs={"frames": FramesNeed(MOTION), **_NEEDS},
    compute=compute_screened,
    judged=Judged(ask, ("prompt",), (PROMPT,)),
    stands_in_for=_STANDS_IN,
)
UNSCREENED = Metric(
    id="sls_unscreened",
    version=1,
    title="Speech-lip sync, not screened",
    summary="The same without a judge's pre-screen.",
    direction=Direction.HIGHER,
    range=(0.0, None),
    unit="",
    paper="MultiRef-Compass, spec section 3.6",
    needs=_NEEDS,
    compute=compute,
    stands_in_for=_STANDS_IN,
)
METRICS = (SLS, UNSCREENED)
