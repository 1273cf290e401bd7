"""What is said in the voices of a clip, apart from its other sounds: Whisper on the stem `vocals` (CutCraft spec 3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.experts.composed import Composed
from evaluator.experts.features import Transcript
from evaluator.experts.stem_tags import resampled
from evaluator.experts.whisper_base import WhisperBase
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need


class VocalsTranscript(Composed):
    """capability `vocals_transcript`."""

    id = "vocals_transcript"
    capability = "vocals_transcript"
    stands_in_for = "Whisper small"
    weights = ("whisper_base",)

    def __init__(self, sessions: SessionSource) -> None:
        super().__init__(sessions)
        self._listener = WhisperBase(sessions)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"stems": ExpertNeed("sound_stems", roles=want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Transcript:
        return self._listener.run(ExpertNeed("transcript"), {"audio": resampled(inputs["stems"], "vocals")})


EXPERT = VocalsTranscript
