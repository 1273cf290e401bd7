"""Audiobox Aesthetics: how a sound would be rated on four axes, 1 to 10, without a reference.

Tjandra et al., "Meta Audiobox Aesthetics", 2025; used by AVE-Compass (audio_aesthetic, section 4.1). The network is a
file that the user mounts. Its first normalisation sees the padding, so a window always has its full ten seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluator.experts.base import Expert
from evaluator.experts.features import AudioAesthetics
from evaluator.experts.waveform import RATE, samples_of, sound_need, windows
from evaluator.media.types import F32
from evaluator.runtime.session import Session
from evaluator.schema import ExpertNeed, Need

FILE = "audiobox.onnx"
AXES = ("CE", "CU", "PC", "PQ")  # content enjoyment, content usefulness, production complexity, production quality
WINDOW = 10 * RATE  # samples


class Audiobox(Expert):
    """capability `audio_aesthetics`: means over windows that follow each other, weighted by how full they are.

    The last window is completed with zeros and weighs the part of it that is sound; a trailing window of one sample
    counts, with that weight.
    """

    id = "audiobox"
    capability = "audio_aesthetics"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> AudioAesthetics:
        samples = samples_of(inputs["audio"], "Audiobox Aesthetics")
        session = self.sessions.session(self.id, FILE)
        starts = range(0, len(samples), WINDOW)
        real = [min(WINDOW, len(samples) - start) for start in starts]  # samples that are sound, per window
        rows = [_rate(session, wave, n) for wave, n in zip(windows(samples, starts, WINDOW), real, strict=True)]
        means = np.average(np.array(rows), axis=0, weights=real)  # [4]
        return AudioAesthetics(dict(zip(AXES, means.tolist(), strict=True)), windows=len(rows))


def _rate(session: Session, wave: F32, real: int) -> list[float]:
    """The four axes of one window [1, WINDOW] of which the first `real` samples are sound."""
    mask = np.arange(WINDOW)[None] < real
    found = session.run({"wave": wave, "mask": mask})
    return [found[axis].item() for axis in AXES]


EXPERT = Audiobox
