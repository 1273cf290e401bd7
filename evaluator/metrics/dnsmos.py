"""DNSMOS P.835: predicted opinion on noisy speech, overall (OVRL), speech (SIG) and background (BAK), 1 to 5.

The published model itself, part of none of the five protocols. It rates noise and music as if they were speech, so it
is asked about speech only.
"""

from __future__ import annotations

import numpy as np

from evaluator.experts.features import AudioTags, DnsMos, SpeechActivity
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import SPEECH, require_speech
from evaluator.schema import ExpertNeed


def compute(quality: DnsMos, activity: SpeechActivity, tags: AudioTags) -> Outcome:
    """OVRL bounded to [1, 5]; `raw` is the unbounded figure. Details carry SIG, BAK and P808. Needs speech."""
    heard = require_speech(activity, tags)
    details = {"SIG": quality.sig, "BAK": quality.bak, "P808": quality.p808, **heard}
    return Outcome(float(np.clip(quality.ovrl, 1.0, 5.0)), raw=quality.ovrl, details=details)


METRIC = Metric(
    id="dnsmos",
    version=1,
    title="DNSMOS overall",
    summary="Predicted overall opinion of listeners about noisy speech, 1 (bad) to 5 (excellent).",
    direction=Direction.HIGHER,
    range=(1.0, 5.0),
    unit="MOS",
    paper="DNSMOS P.835 (Reddy, Gopal, Cutler; ICASSP 2022)",
    needs={
        "quality": ExpertNeed("dnsmos", when=SPEECH),
        "activity": ExpertNeed("speech_activity"),
        "tags": ExpertNeed("audio_tags"),
    },
    compute=compute,
)
