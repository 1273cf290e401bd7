"""How much of the sound is silence, and whether the whole track is silent. A fact, neither good nor bad."""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import I16, I64, Audio
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.levels import FULL_SCALE, SILENCE_RMS, decibels, is_silent, rms, window_rms
from evaluator.schema import AudioNeed

WINDOW_SECONDS = 0.05
QUIET_DB = -60.0
"""dBFS RMS: below room tone of a usual recording, above the noise of dithering and lossy coding."""


def quiet_samples(samples: I16, rate: int) -> I64:
    """How many samples each 50 ms window adds to the silence: its length if it is quiet, else 0. [W]

    The last window may be shorter.
    """
    start = np.arange(0, len(samples), round(WINDOW_SECONDS * rate))
    end = np.append(start[1:], len(samples))
    quiet = window_rms(samples, start, end) < FULL_SCALE * 10.0 ** (QUIET_DB / 20.0)
    return np.where(quiet, end - start, 0)


def longest_run(lengths: I64) -> int:
    """Largest sum of consecutive non-zero entries."""
    longest = run = 0
    for length in lengths.tolist():
        run = run + length if length else 0
        longest = max(longest, run)
    return longest


def compute(sound: Audio) -> Outcome:
    """Share of the samples in quiet windows; `raw` is seconds of silence. NotApplicable if there is no sample.

    `is_silent` is the rule of AVE-Compass 3.2 for the whole track: RMS below one int16 unit.
    """
    if not len(sound.samples):
        raise NotApplicable("not_applicable", "The audio stream holds no sample.")
    quiet = quiet_samples(sound.samples, sound.rate)
    level = rms(sound.samples)
    details = {
        "is_silent": is_silent(sound),
        "silent_below_rms": SILENCE_RMS,
        "rms_dbfs": decibels(level) if level > 0.0 else None,
        "longest_sec": longest_run(quiet) / sound.rate,
        "threshold_dbfs": QUIET_DB,
    }
    return Outcome(float(quiet.sum() / len(sound.samples)), raw=float(quiet.sum() / sound.rate), details=details)


METRIC = Metric(
    id="silence",
    version=1,
    title="Silence",
    summary="Share of the sound that is quieter than -60 dBFS, in windows of 50 ms.",
    direction=Direction.NONE,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 3.2 (silence rule)",
    needs={"sound": AudioNeed()},
    compute=compute,
)
