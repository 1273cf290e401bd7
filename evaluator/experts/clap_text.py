"""LAION-CLAP, text tower: cosine of a text with a sound, in the space of `clap`.

A reference model: the user mounts `clap_text.onnx`, `vocab.json` and `merges.txt` (RoBERTa's). Contract: `tokens`
[batch, 77] int64, padded with RoBERTa's padding sign, to `embedding` [batch, 512] after the projection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.experts.base import Expert
from evaluator.experts.clip_text import aligned
from evaluator.experts.features import Alignment
from evaluator.schema import ExpertNeed, Need

LENGTH = 77


class ClapText(Expert):
    """capability `clap_text_audio`. Options: `text`, and `seconds` as for `clap_audio`."""

    id = "clap_text"
    capability = "clap_text_audio"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        options = tuple(item for item in want.options if item[0] == "seconds")
        return {"sounds": ExpertNeed("clap_audio", want.roles[:1], options=options)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Alignment:
        return Alignment(aligned(self.sessions, self.id, "clap_text.onnx", want, inputs["sounds"], LENGTH, clip=False))


EXPERT = ClapText
