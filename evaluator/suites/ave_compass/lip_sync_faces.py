"""Lip sync in profile strict: SyncNet on faces that were followed, 25 frames a second (spec 4.3, `facetrack`).

What SyncNet was made for, and what the published numbers are not: every face track of more than 50 detections gives a
confidence against the sound of its span; the score is their mean over 7, a figure of ours, for a cropped mouth has
several units where a whole frame has one. A clip without such a track has no score. `fullframe25` in the details is the
second strict value: the whole frame, at 25 frames a second, over the published 2.

The faces are S3FD's where it is mounted; otherwise the most prominent face of each frame stands in, marked so. Without
SyncNet the same stand-in answers as in the other profiles.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from statistics import fmean

from evaluator.errors import NotApplicable
from evaluator.experts.features import LipTracks, WindowEmbeddings
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Outcome
from evaluator.schema import ExpertNeed, Need, Sampling
from evaluator.suites.ave_compass.lip_sync import CARD, STAND_IN, VOICE, match, rating
from evaluator.suites.ave_compass.silence import SILENCE_COUNTS, silence_is_zero

GAMMA = 7.0
"""Confidence that scores 1 on a face. No value is published; the authors' demo clip has 10."""

NEEDS: dict[str, Need] = {
    "lips": ExpertNeed("face_lip_embedding"),
    "whole": ExpertNeed("lip_embedding", sampling=Sampling("fps", (25,))),
    "voice": VOICE,
}


def rated_tracks(lips: LipTracks, whole: WindowEmbeddings, voice: WindowEmbeddings) -> Outcome:
    """clip01(mean confidence / 7) over the tracks that sound goes with; `raw` is that mean. NotApplicable without one.

    Details: the mean `offset_frames`, every track with its first slot of 1/25 s, and how many tracks began.
    """
    heard = [(track, voice.vectors[track.first : track.first + len(track.vectors)]) for track in lips.tracks]
    found = [(track.first, match(track.vectors, sound)) for track, sound in heard if len(sound)]
    if not found:
        raise NotApplicable("not_applicable", f"no_face: none of {lips.started} faces was followed for 50 frames.")
    confidence = fmean(one.confidence for _, one in found)
    frame = rating(whole, voice)
    details = {
        "offset_frames": fmean(one.offset_frames for _, one in found),
        "gamma": GAMMA,
        "input": "face tracks",
        "tracks": [{"first_slot": first, **asdict(one)} for first, one in found],
        "tracks_started": lips.started,
        "fullframe25": {"value": frame.value, "raw": frame.raw, **frame.details},
    }
    return Outcome(clip01(confidence / GAMMA), raw=confidence, details=details)


STRICT = replace(
    silence_is_zero(CARD, rated_tracks, SILENCE_COUNTS, **NEEDS),
    summary="Confidence of SyncNet that lips and voice belong together at one offset, on faces that were followed.",
    instead=STAND_IN,
)
