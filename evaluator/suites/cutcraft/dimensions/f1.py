"""F1: do sounds begin when something moves? Distance from each peak of motion to the nearest onset of sound."""

from __future__ import annotations

from functools import partial

from evaluator.errors import NotApplicable
from evaluator.media.types import Audio, Frames
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import AudioNeed, AudioView, FramesNeed
from evaluator.suites.cutcraft import motion
from evaluator.suites.cutcraft.dimensions.card import signal_metric
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.flow import STANDS_IN, moved
from evaluator.suites.cutcraft.onsets import RATE, onset_times, sync_score
from evaluator.suites.cutcraft.scene import stretch

NO_ANSWER = 0.5


def compute(defects: Defects, flow: Frames, track: Audio) -> Outcome:
    """1 less the mean distance in seconds. Without peaks or onsets there is no score; in `compat` it is 0.5 (D-21)."""
    peaks = motion.energy_peaks(moved(flow, defects.nominal_rate))
    sound = stretch(track, float(flow.time[0]), None) if track.present else track
    onsets = onset_times(sound.float32) if track.present else peaks[:0]
    value = sync_score(onsets, peaks)
    details = {"peaks": peaks.tolist(), "onsets": len(onsets), "flow": f"Farneback in place of {STANDS_IN}"}
    if value is None:
        if not defects.failure_is_half:
            raise NotApplicable("not_applicable", f"{len(peaks)} peaks of motion and {len(onsets)} onsets of sound.")
        value = NO_ANSWER
    return Outcome(value, details=details)


def metric(defects: Defects) -> Metric:
    """F1 of one profile."""
    return signal_metric(
        "F1",
        "Event sync",
        "How near onsets of sound are to peaks of motion.",
        partial(compute, defects),
        {"flow": FramesNeed(motion.VIEW), "track": AudioNeed(AudioView(RATE, missing="silence"))},
        version=2,
    )
