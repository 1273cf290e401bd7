"""Do the lips move with the voice? Correlation of mouth opening and voice level at the rate of syllables.

A stand-in for SyncNet where its weights are not there. It is **not** LSE-C, LSE-D or the kappa of AVE-Compass 4.3: no
sound of speech is recognised, only that the mouth opens when the voice gets louder. Unlike those it rates the clip as
it plays, within a delay that is hardly noticed, and not at the best of 31 offsets; the best offset is a detail.

What to expect, measured: two recorded talking heads 0.17 and 0.34, with offsets right to 0.04 s when the sound was
shifted; foreign speech on the same faces 0.10 on average and below 0.18 in 95 of 100 cases. So a difference between
systems over many clips means something, one clip near `chance` does not.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, FaceTrack, SpeechActivity
from evaluator.media.types import F64, Audio
from evaluator.metrics.alignment import TICKS_PER_SECOND, sample_track, sample_voice, syllables, ticks
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.correlation import masked_correlation
from evaluator.metrics.gates import require_mouth, require_speech
from evaluator.schema import ALL_FRAMES, AudioNeed, ExpertNeed

UNNOTICED = 3
"""Ticks, 0.12 s to either side: ITU-R BT.1359 finds late sound detectable from 0.125 s (early sound from 0.045 s)."""

MAX_LAG = 15
"""Ticks to either side in which the offset is looked for, as SyncNet: 0.6 s."""

CHANCE_LAGS = (25, 75)
"""Ticks: from one to three seconds apart, mouth and sound have nothing to do with each other."""

CHANCE_PERCENTILE = 95.0

MIN_PAIRS = 2 * TICKS_PER_SECOND
"""Ticks of mouth and sound together at a lag: two seconds, below which chance correlations are large."""


def lag_correlation(faces: FaceTrack, sound: Audio, max_lag: int) -> F64:
    """Pearson correlation per lag [2 max_lag + 1]; entry k: the mouth at time t against the sound at t + (k - max_lag)
    ticks. NaN where fewer than MIN_PAIRS ticks have both.
    """
    clock = ticks(float(faces.time[0]), float(faces.time[-1]))
    reach = max_lag / TICKS_PER_SECOND
    mouth = sample_track(faces.time, faces.mouth_opening.astype(np.float64), clock)
    voice = sample_voice(sound, ticks(float(clock[0]) - reach, float(clock[-1]) + reach))
    return masked_correlation(syllables(mouth), syllables(voice), max_lag, MIN_PAIRS)


def at_lags(correlation: F64, least: int, most: int) -> F64:
    """The entries of `lag_correlation` whose lag has a size from `least` to `most` ticks."""
    lag = np.abs(np.arange(len(correlation)) - len(correlation) // 2)
    chosen: F64 = correlation[(lag >= least) & (lag <= most)]
    return chosen


def compute(faces: FaceTrack, sound: Audio, activity: SpeechActivity, tags: AudioTags) -> Outcome:
    """Largest correlation within 0.12 s of offset, bounded to [0, 1]; `raw` is unbounded below. A still mouth gets 0.

    Details: `peak` is the largest correlation within 0.6 s and `offset_sec` where it lies, with the sign of
    `SyncOffset`: positive = the sound comes early. `prominence` is the peak less the median, the shape of SyncNet's
    confidence. `chance` is what these signals reach one to three seconds apart (null in a short clip).

    Raises NotApplicable without speech, without a mouth in most frames, or with less than two seconds of both.
    """
    heard = require_speech(activity, tags)
    share = require_mouth(faces)
    correlation = lag_correlation(faces, sound, CHANCE_LAGS[1])
    near, far = at_lags(correlation, 0, MAX_LAG), at_lags(correlation, *CHANCE_LAGS)
    if not np.isfinite(near).all():
        raise NotApplicable("not_applicable", "Mouth and voice coincide for less than two seconds at some offset.")
    agreement = float(at_lags(correlation, 0, UNNOTICED).max())
    best, far = int(near.argmax()), far[np.isfinite(far)]
    details = {
        "offset_sec": (MAX_LAG - best) / TICKS_PER_SECOND,
        "peak": float(near[best]),
        "prominence": float(near[best] - np.median(near)),
        "chance": float(np.percentile(far, CHANCE_PERCENTILE)) if len(far) else None,
        "mouth_share": share,
        **heard,
    }
    return Outcome(clip01(agreement), raw=agreement, details=details)


METRIC = Metric(
    id="lip_sync",
    version=1,
    title="Lip sync (proxy)",
    summary="How well the opening of the mouth follows the level of the voice, within a delay that is hardly noticed.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="stand-in for AVE-Compass 4.3",
    needs={
        "faces": ExpertNeed("faces", sampling=ALL_FRAMES),
        "sound": AudioNeed(),
        "activity": ExpertNeed("speech_activity"),
        "tags": ExpertNeed("audio_tags"),
    },
    compute=compute,
    stands_in_for={"faces": "SyncNet v2"},
)
