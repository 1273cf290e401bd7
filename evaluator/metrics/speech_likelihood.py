"""How likely the sound is speech, by audio tags: mean probability of the AudioSet class "Speech" over the patches."""

from __future__ import annotations

from evaluator.errors import NotApplicable
from evaluator.experts.features import AudioTags
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import SPEECH_CLASS, class_probability
from evaluator.schema import ExpertNeed

TOP = 5


def compute(tags: AudioTags) -> Outcome:
    """Mean probability of speech; details name the five strongest classes. NotApplicable without a patch."""
    if not len(tags.probability):
        raise NotApplicable("not_applicable", "The sound is too short for one patch of the audio tagger.")
    speech = class_probability(tags, SPEECH_CLASS)
    top = [{"name": name, "probability": mean} for name, mean in tags.top(TOP)]
    details = {"max": float(speech.max()), "top": top, "patches": len(speech)}
    return Outcome(clip01(float(speech.mean())), details=details)


METRIC = Metric(
    id="speech_likelihood",
    version=1,
    title="Speech likelihood",
    summary="Mean probability that the sound is speech, among 521 kinds of sound.",
    direction=Direction.NONE,
    range=(0.0, 1.0),
    unit="",
    paper="CutCraft 4.7 (audio tags), with YAMNet",
    needs={"tags": ExpertNeed("audio_tags")},
    compute=compute,
)
