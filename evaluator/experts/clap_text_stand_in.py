"""In place of CLAP with its text side: how near a text is to the names of the sounds that a tagger hears.

The mean profile of the tagger's classes over the clip goes into the space of sentences by `named_classes`. Cosines of
another space than CLAP's: a threshold for CLAP means nothing here, so that this answers a capability of its own and
nobody takes it for `clap_text_audio`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts import minilm
from evaluator.experts.clap_stand_in import patches_within
from evaluator.experts.composed import Composed
from evaluator.experts.features import Alignment, AudioTags
from evaluator.experts.named_classes import cosines, named
from evaluator.schema import ExpertNeed, Need

SAID = "the sound of {}"


class ClapTextStandIn(Composed):
    """capability `text_and_sound_names`: one cosine. Options: `text`, and `seconds` as for `clap_audio`."""

    id = "clap_text_stand_in"
    capability = "text_and_sound_names"
    stands_in_for = "LAION-CLAP with text"
    weights = (minilm.ID,)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"tags": ExpertNeed("audio_tags", want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        tags: AudioTags = inputs["tags"]
        options: dict[str, Any] = dict(want.options)
        text = minilm.embed(self.sessions, [asked(options)])[0]
        profile = tags.probability[: patches_within(options.get("seconds"), tags)].mean(axis=0, dtype=np.float64)
        sound = named(profile[None], [SAID.format(name) for name in tags.names], partial(minilm.embed, self.sessions))
        return Alignment(cosines(sound, text))


def asked(options: Mapping[str, Any]) -> str:
    """The text of a request. Raises NotApplicable for none."""
    text = str(options.get("text", "")).strip()
    if not text:
        raise NotApplicable("not_applicable", "there is no text to compare with")
    return text


EXPERT = ClapTextStandIn
