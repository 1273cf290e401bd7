"""In place of CLAP's audio tower: the profile of the AudioSet classes that a tagger hears. It has no text side.

The vector is the square root of the mean probability of each class, so that its cosine is the Bhattacharyya coefficient
of two profiles: 1 for equal ones, 0 for sounds without a common class. It tells kinds of sounds apart, not takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from evaluator.experts.composed import Composed
from evaluator.experts.features import AudioTags, Embeddings
from evaluator.experts.pixels import unit_rows
from evaluator.schema import ExpertNeed, Need

PATCH = 0.96
"""Seconds that one patch of the tagger hears."""


class ClapStandIn(Composed):
    """capability `clap_audio`: one unit vector [1, classes] of the patches within `seconds`."""

    id = "clap_stand_in"
    capability = "clap_audio"
    stands_in_for = "LAION-CLAP"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"tags": ExpertNeed("audio_tags", want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Embeddings:
        tags: AudioTags = inputs["tags"]
        options: dict[str, Any] = dict(want.options)
        heard = patches_within(options.get("seconds"), tags)
        profile = np.sqrt(tags.probability[:heard].mean(axis=0, dtype=np.float64))
        return Embeddings(unit_rows(profile[None].astype(np.float32)), np.zeros(1, np.int64))


def patches_within(seconds: float | None, tags: AudioTags) -> int:
    """Patches that begin early enough to hear any new sound of the first `seconds`; at least one."""
    if seconds is None:
        return len(tags.probability)
    return max(1, min(len(tags.probability), ceil((seconds - PATCH) / tags.step) + 1))


EXPERT = ClapStandIn
