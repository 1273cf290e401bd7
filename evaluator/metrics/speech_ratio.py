"""How much of the sound is speech, by voice activity. A fact, neither good nor bad.

Singing and some music can trigger voice activity: `speech_likelihood` is the second witness.
"""

from __future__ import annotations

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeechActivity
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed


def compute(activity: SpeechActivity) -> Outcome:
    """Seconds of voice activity over seconds of sound; `raw` is the seconds. NotApplicable if there is no sound."""
    if activity.duration <= 0.0:
        raise NotApplicable("not_applicable", "The audio stream holds no sample.")
    seconds = activity.seconds()
    segments = [[start, end] for start, end in activity.segments()]
    details = {"segments_sec": segments, "duration_sec": activity.duration}
    return Outcome(clip01(seconds / activity.duration), raw=seconds, details=details)


METRIC = Metric(
    id="speech_ratio",
    version=1,
    title="Speech ratio",
    summary="Share of the sound in which a voice is active.",
    direction=Direction.NONE,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.2 (diagnostic)",
    needs={"activity": ExpertNeed("speech_activity")},
    compute=compute,
)
