"""How well produced and useful the sound is, by AudioBox Aesthetics (AVE-Compass 4.1). Needs the mounted model.

AVE-Compass gives silent sound 0.0; here silence has no score.
"""

from __future__ import annotations

from evaluator.experts.features import AudioAesthetics
from evaluator.media.types import Audio
from evaluator.metrics.arithmetic import clip01
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import require_sound
from evaluator.schema import AudioNeed, ExpertNeed


def rating(aesthetics: AudioAesthetics) -> Outcome:
    """clip01((PQ + CU) / 20); `raw` is PQ + CU. Details carry all four axes."""
    raw = aesthetics.axes["PQ"] + aesthetics.axes["CU"]
    return Outcome(clip01(raw / 20.0), raw=raw, details={"axes": dict(aesthetics.axes), "windows": aesthetics.windows})


def compute(aesthetics: AudioAesthetics, sound: Audio) -> Outcome:
    """The rating of what is heard, in [0, 1]; `raw` is PQ + CU. Raises NotApplicable for silent sound."""
    require_sound(sound)
    return rating(aesthetics)


METRIC = Metric(
    id="audio_aesthetic",
    version=1,
    title="Audio aesthetic",
    summary="Production quality and content usefulness of the sound.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.1",
    needs={"aesthetics": ExpertNeed("audio_aesthetics"), "sound": AudioNeed()},
    compute=compute,
)
