"""In place of ECAPA-TDNN: whatever serves `speaker_embedding`. Too little speech is filtered, as there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.experts.composed import Composed
from evaluator.experts.features import SpeakerEmbedding
from evaluator.schema import ExpertNeed, Need


class EcapaStandIn(Composed):
    """capability `speaker_verification`."""

    id = "ecapa_stand_in"
    capability = "speaker_verification"
    stands_in_for = "ECAPA-TDNN"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"voice": ExpertNeed("speaker_embedding", want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SpeakerEmbedding:
        found: SpeakerEmbedding = inputs["voice"]
        return found


EXPERT = EcapaStandIn
