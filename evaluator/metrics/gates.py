"""Whether a question has an answer for a clip: is there sound, speech, a mouth to watch?

Speech models give a confident figure for music, tones and noise too (PLCMOS rates a pure tone 4.9 of 5), so a speech
metric first asks two independent witnesses. A gate returns what it saw, for the record, or raises NotApplicable. The
AVE-Compass suite scores silent sound as 0.0 where its paper does; here a clip without evidence has no score.

A gate in GATES can also be the condition of a need (`ExpertNeed.when`), so that a slow model is not run for a clip on
which its metric would refuse to use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.features import AudioTags, FaceTrack, SpeechActivity
from evaluator.media.types import F64, Audio
from evaluator.metrics.levels import SILENCE_RMS, is_silent
from evaluator.schema import ExpertNeed, Need

SPEECH_CLASS = "Speech"
"""AudioSet class whose probability the gate reads."""

MIN_SPEECH_SECONDS = 0.5
"""Voice activity in all: about two syllables, the least that a listener could rate."""

MIN_SPEECH_PROBABILITY = 0.5
"""The tagger must hold speech for more likely than not in at least one patch. The largest patch is read, not the mean,
because one sentence in a long clip is speech too."""

MIN_MOUTH_SHARE = 0.5
"""Share of watched frames in which a mouth was measured: a face in most frames."""


def require_sound(audio: Audio) -> None:
    """Raise NotApplicable if the clip is silent (`evaluator.metrics.levels.is_silent`)."""
    if is_silent(audio):
        raise NotApplicable("not_applicable", f"The sound is silent (RMS below {SILENCE_RMS:g} int16 unit).")


def class_probability(tags: AudioTags, name: str) -> F64:
    """Probability of one class in each patch [P]. Raises ExpertError if the tagger has no such class."""
    if name not in tags.names:
        raise ExpertError(f"The audio tagger has no class {name!r}; it has {len(tags.names)} others.")
    return tags.probability[:, tags.names.index(name)].astype(np.float64)


def require_speech(activity: SpeechActivity, tags: AudioTags, clip: str = "clip") -> dict[str, float]:
    """Seconds of voice activity and the largest speech probability, if both say that somebody speaks.

    Otherwise raises NotApplicable; `clip` names which clip in its message.
    """
    seconds = activity.seconds()
    probability = float(class_probability(tags, SPEECH_CLASS).max(initial=0.0))
    if seconds < MIN_SPEECH_SECONDS or probability < MIN_SPEECH_PROBABILITY:
        raise NotApplicable(
            "not_applicable",
            f"No speech in the {clip}: {seconds:.2f} s of voice activity ({MIN_SPEECH_SECONDS:g} s needed), "
            f"largest speech probability {probability:.2f} ({MIN_SPEECH_PROBABILITY:g} needed).",
        )
    return {"speech_seconds": seconds, "speech_probability": probability}


def require_mouth(faces: FaceTrack) -> float:
    """Share of watched frames in which a mouth was measured. Raises NotApplicable if it is below MIN_MOUTH_SHARE."""
    share = float(np.isfinite(faces.mouth_opening).mean()) if len(faces.index) else 0.0
    if share < MIN_MOUTH_SHARE:
        raise NotApplicable(
            "not_applicable",
            f"A mouth is visible in {share:.0%} of {len(faces.index)} frames ({MIN_MOUTH_SHARE:.0%} needed).",
        )
    return share


@dataclass(frozen=True, slots=True)
class Gate:
    """A condition on one clip: what it looks at, and a function of that which raises NotApplicable if it is shut."""

    needs: Mapping[str, Need]
    require: Callable[..., object]


SPEECH = "speech"
GATES: Mapping[str, Gate] = {
    SPEECH: Gate({"activity": ExpertNeed("speech_activity"), "tags": ExpertNeed("audio_tags")}, require_speech),
}
"""Gates that `ExpertNeed.when` may name."""
