"""How good does the speech sound? A mean opinion score mapped to [0, 1] (AVE-Compass 4.2, step 6).

Scores the whole mix, music included. AVE-Compass gives silent sound 0.0; here a clip without speech has no score
(`evaluator.metrics.gates.require_speech`).
"""

from __future__ import annotations

from dataclasses import replace

from evaluator.experts.features import AudioTags, SpeechActivity, SpeechQuality
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import SPEECH, require_speech
from evaluator.schema import ExpertNeed


def rating(quality: SpeechQuality) -> Outcome:
    """clip01((MOS - 1) / 4); `raw` is the MOS as predicted, which may leave 1..5."""
    details = {"diagnostics": dict(quality.diagnostics), "rate": quality.rate}
    return Outcome(clip01((quality.mos - 1.0) / 4.0), raw=quality.mos, details=details)


def compute(quality: SpeechQuality, activity: SpeechActivity, tags: AudioTags) -> Outcome:
    """clip01((MOS - 1) / 4); `raw` is the MOS as predicted, which may leave 1..5. NotApplicable without speech."""
    heard = require_speech(activity, tags)
    rated = rating(quality)
    return replace(rated, details={"diagnostics": rated.details["diagnostics"], **heard})


METRIC = Metric(
    id="speech_quality",
    version=1,
    title="Speech quality",
    summary="Predicted opinion of listeners about the speech, from 0 (bad) to 1 (excellent).",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.2",
    needs={
        "quality": ExpertNeed("speech_quality", when=SPEECH),
        "activity": ExpertNeed("speech_activity"),
        "tags": ExpertNeed("audio_tags"),
    },
    compute=compute,
)
