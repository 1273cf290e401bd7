"""What is heard in each stem of a clip, half a second at a time: YAMNet in place of PANNs CNN14 (CutCraft spec 8.1).

YAMNet hears 0.96 s at once, so a segment is followed by silence. A tail of less than a quarter of a second is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd
from typing import Any

import numpy as np
from scipy.signal import resample_poly

from evaluator.experts.composed import Composed
from evaluator.experts.features import AudioTags, SoundStems, StemTags
from evaluator.experts.waveform import RATE
from evaluator.experts.yamnet import YamNet
from evaluator.media.types import F32, Audio
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need

WITHOUT_VOICES = ("drums", "bass", "other")
SEGMENT, SHORTEST = 0.5, 0.25  # seconds


class StemTagsExpert(Composed):
    """capability `stem_tags`: a row of probabilities per segment."""

    id = "stem_tags"
    capability = "stem_tags"
    stands_in_for = "PANNs CNN14"
    weights = ("yamnet",)

    def __init__(self, sessions: SessionSource) -> None:
        super().__init__(sessions)
        self._tagger = YamNet(sessions)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"stems": ExpertNeed("sound_stems", roles=want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> StemTags:
        stems: SoundStems = inputs["stems"]
        return StemTags({name: self._heard(resampled(stems, name)) for name in WITHOUT_VOICES})

    def _heard(self, sound: Audio) -> AudioTags:
        size = round(SEGMENT * RATE)
        starts = range(0, max(1, len(sound.samples) - round(SHORTEST * RATE) + 1), size)
        parts = [Audio(sound.samples[start : start + size], RATE, True) for start in starts]
        found = [self._tagger.run(ExpertNeed("audio_tags"), {"audio": part}) for part in parts]
        return AudioTags(np.concatenate([one.probability for one in found]), found[0].names, SEGMENT)


def resampled(stems: SoundStems, name: str) -> Audio:
    """A stem as the sound models hear it: 16 kHz, 16 bit."""
    shared = gcd(RATE, stems.rate)
    samples: F32 = resample_poly(stems.mono[name], RATE // shared, stems.rate // shared)
    whole = np.clip(np.round(32768.0 * samples), -32768, 32767).astype(np.int16)
    return Audio(whole, RATE, present=True, start=stems.start)


EXPERT = StemTagsExpert
