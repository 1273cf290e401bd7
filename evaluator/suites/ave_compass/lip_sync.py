"""Lip sync as AVE-Compass measures it: SyncNet on the whole frame, not on a face (spec 4.3).

The confidence of SyncNet is the median of the 31 mean distances between pictures and shifted sound, less the smallest
of them; the score is that over 2. The sound is padded with zero vectors on both sides before it is shifted, so that
distances at large shifts include distances to nothing: part of the published definition.

Profiles: `paper` and `compat` take every frame as if there were 25 a second (`fps_mismatch` says when there are not).
`compat` looks at frames that went through FFmpeg's default JPEG files, as the published script does, which moves the
confidence by about 0.05; it has no silence rule and no score without an audio stream. `strict` is in `lip_sync_faces`.

Without SyncNet the coupling of mouth opening and voice level stands in (`evaluator.metrics.lip_sync`), marked so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import WindowEmbeddings
from evaluator.media.types import F32, F64, Audio
from evaluator.metrics import lip_sync as coupling
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ALL_FRAMES, AudioNeed, ExpertNeed, Need
from evaluator.suites.ave_compass.silence import SILENCE_COUNTS, silence_is_zero

GAMMA = 2.0
"""Confidence that scores 1."""
MAX_SHIFT = 15  # windows to either side
EPSILON = 1e-6  # added to every element of a difference, as torch's pairwise distance does
RATE = 25.0  # frames per second that SyncNet was trained on
RATE_TOLERANCE = 0.01


def mean_distances(lips: F32, voice: F32) -> F64:
    """Mean distance per shift [31] of vectors [F, D] and [F, D]; entry j compares picture t with sound t + j - 15."""
    padded = np.pad(voice.astype(np.float64), ((MAX_SHIFT, MAX_SHIFT), (0, 0)))
    seen = lips.astype(np.float64) + EPSILON
    shifts = range(2 * MAX_SHIFT + 1)
    return np.array([np.linalg.norm(seen - padded[j : j + len(seen)], axis=1).mean() for j in shifts])


@dataclass(frozen=True, slots=True)
class Match:
    """What the distances of one track of pictures and its sound say."""

    confidence: float  # median less least
    offset_frames: int  # positive: the sound comes early
    min_distance: float
    windows: int


def match(lips: F32, voice: F32) -> Match:
    """The match of vectors [F, D] and [G, D], as far as both go. Raises NotApplicable if one of them is empty."""
    count = min(len(lips), len(voice))
    if count < 1:
        raise NotApplicable("not_applicable", "SyncNet needs six frames and 0.24 s of sound; this clip is too short.")
    distance = mean_distances(lips[:count], voice[:count])
    best = int(distance.argmin())
    least = float(distance[best])
    return Match(float(np.median(distance)) - least, MAX_SHIFT - best, least, count)


def rating(lips: WindowEmbeddings, voice: WindowEmbeddings) -> Outcome:
    """clip01(confidence / 2); `raw` is the confidence. Raises NotApplicable without a whole window of both."""
    found = match(lips.vectors, voice.vectors)
    details = {
        "offset_frames": found.offset_frames,
        "min_distance": found.min_distance,
        "gamma": GAMMA,
        "windows": found.windows,
        "input": "whole frame",
        "fps": lips.rate,
        "fps_mismatch": abs(lips.rate - RATE) > RATE_TOLERANCE,
    }
    return Outcome(clip01(found.confidence / GAMMA), raw=found.confidence, details=details)


def mouth_and_voice(voice: Audio, **found: Any) -> Outcome:
    """The stand-in's score; `method` says that no SyncNet was asked. NotApplicable without a mouth or speech."""
    outcome = coupling.compute(sound=voice, **found)
    return replace(outcome, details={"method": "mouth opening against voice level", **outcome.details})


VOICE = ExpertNeed("voice_embedding")
WHOLE_FRAMES: dict[str, Need] = {"lips": ExpertNeed("lip_embedding", sampling=ALL_FRAMES), "voice": VOICE}
JPEG_FRAMES: dict[str, Need] = {
    "lips": ExpertNeed("lip_embedding", sampling=ALL_FRAMES, options=(("jpeg", True),)),
    "voice": VOICE,
}

CARD = Metric(
    id="lip_sync",
    version=1,
    title="Lip sync",
    summary="Confidence of SyncNet that lips and voice belong together at one offset, on whole frames.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.3",
    needs=WHOLE_FRAMES,
    compute=rating,
)
"""Without the silence rule."""

_SEEN = {name: need for name, need in coupling.METRIC.needs.items() if name != "sound"}

STAND_IN = replace(
    silence_is_zero(CARD, mouth_and_voice, SILENCE_COUNTS, voice=AudioNeed(), **_SEEN),
    title="Lip sync (proxy)",
    summary=coupling.METRIC.summary,
    paper=coupling.METRIC.paper,
    stands_in_for=coupling.METRIC.stands_in_for,
)

METRIC = replace(silence_is_zero(CARD, rating, SILENCE_COUNTS, **WHOLE_FRAMES), instead=STAND_IN)

COMPAT = replace(CARD, needs=JPEG_FRAMES, instead=coupling.METRIC)
