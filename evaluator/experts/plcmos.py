"""PLCMOS v2: how audible lost and concealed packets are, in other words drop-outs, in speech.

Diener et al., "PLCMOS", Interspeech 2023. The network rates as one of many raters, who are normal vectors; the
published code draws 15 at random, so its figure changes from call to call. Here the same 15 rate every clip. A pure
tone is rated 4.9: only speech may be asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.features import SpeechQuality
from evaluator.experts.spectral import hamming, magnitude_blocks
from evaluator.experts.waveform import RATE, samples_of, sound_need
from evaluator.media.types import F32, F64
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Need

FILE = "plcmos_v2.onnx"
FFT = 512
HOP = 256
FLOOR = -12.0 * np.log(10.0)  # an empty bin lies 120 dB below the weakest bin that is not
SILENCE = -8.0 * np.log(10.0)  # ln power of every bin of digital silence
SCALE = 20.0

RATERS = 15
RATER_SIZE = 64
RATER_SEED = 0

LONGEST = 30 * RATE  # the network was trained on clips of about ten seconds; a longer clip is rated in parts
SHORTEST = RATE  # samples; a shorter last part is left out


class PlcMos(Expert):
    """capability `plcmos`: mean over raters; parts of a long clip weigh as much as they last."""

    id = "plcmos"
    capability = "plcmos"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeechQuality:
        samples = samples_of(inputs["audio"], "PLCMOS", least=SHORTEST)
        session = self.sessions.session(self.id, FILE)
        cut = parts(samples)
        ratings = [_rate(session, features(part)) for part in cut]
        mos = np.average(ratings, weights=[len(part) for part in cut])
        return SpeechQuality(float(mos), {"worst_part": min(ratings), "best_part": max(ratings)})


def parts(samples: F32) -> list[F32]:
    """Consecutive parts of LONGEST samples; the last may be shorter, but not shorter than SHORTEST."""
    cut = [samples[start : start + LONGEST] for start in range(0, len(samples), LONGEST)]
    return [part for part in cut if len(part) >= SHORTEST]


def raters() -> F32:
    """The fixed raters [15, 64]. NumPy guarantees the stream of this legacy generator for all time."""
    return np.random.RandomState(RATER_SEED).standard_normal((RATERS, RATER_SIZE)).astype(np.float32)


def features(samples: F32) -> F32:
    """Natural logarithm of the power spectrum over 20: [frames, 257]; the first frame holds 256 zeros."""
    frames = -(-len(samples) // HOP) + 1
    padded = np.zeros((frames + 1) * HOP, np.float32)
    padded[HOP : HOP + len(samples)] = samples
    power = np.concatenate([block**2 for block in magnitude_blocks(padded, hamming(FFT), HOP)])
    return (log_power(power) / SCALE).astype(np.float32)


def log_power(power: F64) -> F64:
    """ln(power) where a bin with no power at all lies FLOOR below the weakest one that has any."""
    heard = power > 0.0
    if not heard.any():
        return np.full(power.shape, SILENCE)
    return np.log(power, out=np.full(power.shape, np.log(power[heard].min()) + FLOOR), where=heard)


def _rate(session: Session, spectrum: F32) -> float:
    """Mean rating over the raters, one run each: a batch would repeat the whole clip for every rater."""
    sound = spectrum[None, None]  # [1, 1, frames, 257]
    ratings = [session.run({"degraded_audio": sound, "rater_embed": one[None]})["plcmos"].item() for one in raters()]
    return float(np.mean(ratings))


EXPERT = PlcMos
