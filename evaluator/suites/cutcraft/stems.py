"""Stems of a clip on the clock of its pictures: what B2, B3 and D3 hear apart (CutCraft spec 7 and 8.1).

Music is drums, bass and other sounds together. Without stems the whole mix is all there is, and records say so. Knows
no model.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.signal import resample_poly

from evaluator.errors import NotApplicable
from evaluator.experts.features import SoundStems
from evaluator.media.types import F32
from evaluator.schema import ExpertNeed, Need
from evaluator.suites.cutcraft.scene import LATEST

NEEDS: Mapping[str, Need] = {"stems": ExpertNeed("sound_stems")}
OPTIONAL = frozenset(NEEDS)
"""A clip without sound has no stems."""
MUSIC = ("drums", "bass", "other")
VOICES = 1.5
"""Energy of the voices over that of the music from which there is no music."""
MIX = "the whole mix, voices included: no model of sound_stems is mounted"
NO_STEMS = "the whole mix, voices included: this clip has no stems (no sound, or more than ten minutes of it)"
APART = "drums, bass and other stems"


def stems_of(media: Mapping[str, Any]) -> SoundStems | None:
    """The clip's stems, if a model and the clip have some."""
    found: SoundStems | None = media.get("stems")
    return found


def used(media: Mapping[str, Any]) -> str:
    """Which signal was taken for music, in words for a record."""
    if stems_of(media) is not None:
        return APART
    return NO_STEMS if "stems" in media else MIX


def music(stems: SoundStems, rate: int, first: float) -> F32:
    """[T] of the music at `rate`, a divisor of the stems' own, from the time stamp `first` on.

    Before the track begins there is silence. Raises NotApplicable for one that begins more than LATEST after `first`.
    """
    if stems.start - first > LATEST:
        raise NotApplicable("not_applicable", f"The sound begins {stems.start - first:g} s after the picture.")
    whole = np.sum([stems.mono[name] for name in MUSIC], axis=0)
    lower: F32 = resample_poly(whole, 1, stems.rate // rate)
    lead = round((first - stems.start) * rate)  # samples before the first picture; below 0, samples that are missing
    return lower[lead:] if lead >= 0 else np.pad(lower, (-lead, 0))


def mostly_voices(stems: SoundStems) -> bool:
    """Whether the voices have so much more energy than the music that there is none."""
    ratio = {name: one.energy_ratio for name, one in stems.facts.items()}
    return ratio["vocals"] > VOICES * sum(ratio[name] for name in MUSIC)


def music_level(stems: SoundStems) -> float:
    """RMS of the three stems of music, added: B3's measure of music."""
    return sum(stems.facts[name].rms for name in MUSIC)
