"""Did the sound survive an edit of the pictures? Best correlation of two magnitude spectrograms over +-3 s of lag.

AVE-Compass 4.9, exactly, with the default silence rule of its section 3.2. What it does not see: gain, polarity, and
most of a truncation (unrelated noise scores about 0.5, not 0), so `gain_db` and `duration_ratio` stand beside it. Nor
does it see a delay that is written as a time stamp instead of as silence, because the published extraction drops it:
`start_difference_sec` (output minus source) tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.media.types import F64, I16, Audio
from evaluator.metrics.arithmetic import cosine_score
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.correlation import spectrogram_correlation
from evaluator.metrics.levels import is_silent, rms
from evaluator.metrics.spectra import stft_magnitude
from evaluator.schema import AudioNeed, AudioView

RATE = 16_000
WINDOW = 1024
HOP_SECONDS = WINDOW // 2 / RATE  # 0.032
MAX_LAG_SECONDS = 3.0
MIN_SAMPLES = 2 * WINDOW  # shorter sound is extended by zeros
TIE_DIGITS = 9  # correlations that agree to here are equal: rounding errors must not choose the lag

SOUND = AudioView(RATE, missing="silence")


def spectrogram(samples: I16, shortest: int = MIN_SAMPLES) -> F64:
    """Magnitudes [frames, 513] of the samples, extended by zeros to `shortest`."""
    return stft_magnitude(np.pad(samples, (0, max(0, shortest - len(samples)))), WINDOW)


def best_lag(source: F64, output: F64) -> tuple[float, int]:
    """(largest correlation, its lag in frames) of two spectrograms; of equal ones the first, from the lowest lag.

    Negative: the output is late. The lag is at most 3 s (93 frames) and half of the shorter sound. The published search
    refines a coarse grid, whose step is 1 within this limit, so looking at every lag is the same search.
    """
    max_lag = min(int(MAX_LAG_SECONDS / HOP_SECONDS), int(0.5 * min(len(source), len(output))))
    rho = spectrogram_correlation(source, output, max_lag)
    best = int(np.argmax(np.round(rho, TIE_DIGITS)))
    return float(rho[best]), best - max_lag


def level_facts(output: Audio, source: Audio) -> dict[str, Any]:
    """What the correlation is blind to; None where a side has no level or no length."""
    loud, length = rms(source.samples), len(source.samples)
    gain = rms(output.samples) / loud if loud > 0.0 else 0.0
    return {
        "gain_db": float(20.0 * np.log10(gain)) if gain > 0.0 else None,
        "duration_ratio": len(output.samples) / length if length else None,
        "start_difference_sec": output.start - source.start if output.present and source.present else None,
    }


def overlap(source: F64, output: F64, lag: int) -> float:
    """Share of the longer of two spectrograms that was compared at this lag: 1 if all of both was."""
    shared = min(len(source) - max(lag, 0), len(output) - max(-lag, 0))
    return max(0, shared) / max(len(source), len(output))


def compute(output: Audio, source: Audio) -> Outcome:
    """(rho + 1) / 2 in [0, 1]; `raw` is rho, -1 if one side does not vary. Two silent clips score 1.0 without a rho."""
    if is_silent(output) and is_silent(source):
        return both_silent(output, source)
    return similarity(output, source)


def both_silent(output: Audio, source: Audio) -> Outcome:
    """1.0: the silence survived. There is no rho."""
    return Outcome(1.0, details={"method": "both_silent", **level_facts(output, source)})


def similarity(output: Audio, source: Audio, shortest: int = MIN_SAMPLES) -> Outcome:
    """(rho + 1) / 2 in [0, 1] with `raw` = rho, of two sounds that are not both silent; see `spectrogram`."""
    facts = level_facts(output, source)
    rho, lag = best_lag(spectrogram(source.samples, shortest), spectrogram(output.samples, shortest))
    found = {"method": "stft", "rho": rho, "best_lag_frames": lag, "best_lag_sec": lag * HOP_SECONDS}
    return Outcome(cosine_score(rho), raw=rho, details={**found, **facts})


METRIC = Metric(
    id="audio_similarity",
    version=1,
    title="Audio similarity",
    summary="Best correlation of the spectrograms of output and source when one may slide by up to three seconds.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="AVE-Compass 4.9",
    needs={"output": AudioNeed(SOUND, "video"), "source": AudioNeed(SOUND, "source")},
    compute=compute,
)
