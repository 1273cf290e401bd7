"""What AVE-Compass makes of a clip without sound: 0.0, so that removing the sound never pays (spec 3.2, 4.3).

In profile `paper` a clip without an audio stream counts as a silent one. In profile `compat` it has no score, as in the
reference, which makes it drop out of the means; that is done by asking for the sound with `AudioView(missing="skip")`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.media.types import Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.metrics.levels import is_silent
from evaluator.schema import AudioNeed, AudioView, Need

SILENCE_COUNTS = AudioNeed(AudioView(missing="silence"))
NO_STREAM_IS_SKIPPED = AudioNeed(AudioView(missing="skip"))


def zero_if_silent(measure: Callable[..., Outcome], sound: Audio, **found: Any) -> Outcome:
    """0.0 with `silent` in the details, else what `measure` makes of the other needs.

    Those are None where a model had nothing to say about the clip; that is a question of length then, not of silence.
    """
    if is_silent(sound):
        return Outcome(0.0, details={"silent": True, "audio_stream": sound.present})
    lacking = [name for name, value in found.items() if value is None]
    if lacking:
        seconds = len(sound.samples) / sound.rate
        raise NotApplicable(
            "not_applicable",
            f"{seconds:.2f} s of sound are too short or too long, or no picture goes with them ({', '.join(lacking)}).",
        )
    return measure(**found)


def silence_is_zero(metric: Metric, measure: Callable[..., Outcome], stream: AudioNeed, **needs: Need) -> Metric:
    """`metric` with the silence rule: `measure` computes it from `needs` where something is heard on `stream`."""
    return replace(
        metric,
        needs={**needs, "sound": stream},
        optional=frozenset(needs),
        compute=partial(zero_if_silent, measure),
    )
