"""PLCMOS: predicted opinion on speech with lost packets, so on gaps, stutter and robotic joins, 1 to 5.

The published model itself. It rates a pure tone 4.9, so the speech gate is not optional.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.features import AudioTags, SpeechActivity, SpeechQuality
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import SPEECH, require_speech
from evaluator.schema import ExpertNeed


def compute(quality: SpeechQuality, activity: SpeechActivity, tags: AudioTags) -> Outcome:
    """MOS bounded to [1, 5]; `raw` is the unbounded figure. Raises NotApplicable without speech."""
    heard = require_speech(activity, tags)
    details = {**quality.diagnostics, **heard}
    return Outcome(float(np.clip(quality.mos, 1.0, 5.0)), raw=quality.mos, details=details)


METRIC = Metric(
    id="plcmos",
    version=1,
    title="PLCMOS",
    summary="Predicted opinion of listeners about gaps and stutter in speech, 1 (bad) to 5 (excellent).",
    direction=Direction.HIGHER,
    range=(1.0, 5.0),
    unit="MOS",
    paper="PLCMOS (Diener et al.; Interspeech 2023)",
    needs={
        "quality": ExpertNeed("plcmos", when=SPEECH),
        "activity": ExpertNeed("speech_activity"),
        "tags": ExpertNeed("audio_tags"),
    },
    compute=compute,
)
