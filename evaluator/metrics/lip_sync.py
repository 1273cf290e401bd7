"""Do the lips move with the sound? Correlation of mouth opening and sound level, at the best lag within 0.6 s.

A stand-in for SyncNet where its weights are not there. It is **not** LSE-C, LSE-D or the kappa of AVE-Compass 4.3: no
phoneme is recognised, only that the mouth opens when it gets louder. Its peak is broad (on real speech 0.44 and more
over ten ticks around 0.53), so it tells speech in sync from dubbed or still lips, with an offset good to some 0.1 s.
Like the published score it rates agreement at the best offset, not at offset 0; `offset_sec` and `zero_lag` are the
figures for a delay. The largest of 31 correlations of unrelated signals is not 0: about 0.2 on ten seconds.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags, FaceTrack, SpeechActivity
from evaluator.media.types import F64, Audio
from evaluator.metrics.alignment import TICKS_PER_SECOND, sample_level, sample_track, ticks
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.correlation import masked_correlation
from evaluator.metrics.gates import require_mouth, require_speech
from evaluator.schema import ALL_FRAMES, AudioNeed, ExpertNeed

MAX_LAG = 15
"""Ticks to either side, as SyncNet: 0.6 s."""

MIN_PAIRS = 2 * TICKS_PER_SECOND
"""Ticks of mouth and sound together at every lag: two seconds, below which chance correlations are large."""


def lag_correlation(faces: FaceTrack, sound: Audio) -> F64:
    """Pearson correlation per lag [31]; entry k: the mouth at time t against the sound at t + (k - 15) ticks.

    Raises NotApplicable if a lag has fewer than MIN_PAIRS ticks of both.
    """
    clock = ticks(float(faces.time[0]), float(faces.time[-1]))
    reach = MAX_LAG / TICKS_PER_SECOND
    mouth = sample_track(faces.time, faces.mouth_opening.astype(np.float64), clock)
    level = sample_level(sound, ticks(float(clock[0]) - reach, float(clock[-1]) + reach))
    correlation, pairs = masked_correlation(mouth, level, MAX_LAG, MIN_PAIRS)
    if pairs.min() < MIN_PAIRS:
        seconds = pairs.min() / TICKS_PER_SECOND
        raise NotApplicable("not_applicable", f"Mouth and sound overlap for {seconds:.2f} s; two seconds are needed.")
    return correlation


def compute(faces: FaceTrack, sound: Audio, activity: SpeechActivity, tags: AudioTags) -> Outcome:
    """Largest correlation over the lags, bounded to [0, 1]; `raw` is unbounded below. A still mouth correlates 0.

    `offset_sec` follows the sign of `SyncOffset`: positive = the sound comes early. `prominence` is the peak less the
    median over lags, the shape of SyncNet's confidence. Raises NotApplicable without speech, without a mouth in most
    frames, or with less than two seconds of both.
    """
    heard = require_speech(activity, tags)
    share = require_mouth(faces)
    correlation = lag_correlation(faces, sound)
    best = int(correlation.argmax())
    peak = float(correlation[best])
    details = {
        "offset_sec": (MAX_LAG - best) / TICKS_PER_SECOND,
        "zero_lag": float(correlation[MAX_LAG]),
        "prominence": peak - float(np.median(correlation)),
        "mouth_share": share,
        **heard,
    }
    return Outcome(clip01(peak), raw=peak, details=details)


METRIC = Metric(
    id="lip_sync",
    version=1,
    title="Lip sync (proxy)",
    summary="How well the opening of the mouth follows the level of the speech, at the best offset within 0.6 s.",
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
)
