"""F2: how good does the sound sound? Signal heuristics that the reference calls "dnsmos"; no such model is in it."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from evaluator.errors import NotApplicable
from evaluator.media.types import Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import AudioNeed, AudioView
from evaluator.suites.cutcraft.dimensions.card import signal_metric
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.onsets import RATE
from evaluator.suites.cutcraft.sound_quality import SHORTEST, sound_facts, sound_score

NO_ANSWER = 0.5


def compute(defects: Defects, track: Audio) -> Outcome:
    """The weighted sum. Without sound there is no score; in `compat` it is 0.5 (D-21)."""
    if not track.present or len(track.samples) < SHORTEST * RATE:
        if defects.failure_is_half:
            return Outcome(NO_ANSWER, details={"sound": "none"})
        raise NotApplicable("not_applicable", "The clip has no sound to rate.")
    facts = sound_facts(track.float32)
    return Outcome(sound_score(facts), details=asdict(facts))


def metric(defects: Defects) -> Metric:
    """F2 of one profile."""
    return signal_metric(
        "F2",
        "Audio quality",
        "Levels, richness, onsets, bandwidth, clipping and silence of the sound.",
        partial(compute, defects),
        {"track": AudioNeed(AudioView(RATE, missing="silence"))},
        version=2,
    )
