"""TS, timbre similarity (section 3.8): cosine of the voice in the output and the reference voice, best one of several.

Raw cosine, -1..1, on the speech alone; less than a second of speech on either side is `filtered`. Several speakers in
the output are one voice here, as in the paper: the cosine then says how near their mixture is. Profile `diarised` tells
them apart (`ts_diarised`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeakerEmbedding, SpeechActivity
from evaluator.metrics.arithmetic import cosine
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need
from evaluator.suites.multiref_compass.choices import LEAST_SPEECH
from evaluator.suites.multiref_compass.data import voices


def compute(case: Case, output: SpeakerEmbedding | None, spoken: SpeechActivity | None, **heard: Any) -> Outcome:
    """Cosine with the nearest reference voice. Raises NotApplicable `filtered` for too little speech on a side."""
    own = required(spoken, output, "output")
    found: dict[str, float] = {}
    for role in voices(case):
        number = role.partition(":")[2]
        voice = required(heard[f"speech_{number}"], heard[f"voice_{number}"], role)
        found[case.references[int(number)].entity or role] = cosine(own.vector, voice.vector)
    nearest = max(sorted(found), key=lambda name: found[name])
    return Outcome(found[nearest], details={"voices": found, "nearest": nearest, "seconds": own.seconds})


def required(speech: SpeechActivity | None, voice: SpeakerEmbedding | None, name: str) -> SpeakerEmbedding:
    """The voice, if there is speech enough to know it by. Raises NotApplicable `filtered`."""
    seconds = speech.seconds() if speech is not None else 0.0
    if seconds < LEAST_SPEECH or voice is None:
        raise NotApplicable("filtered", f"{name}: {seconds:.2f} s of speech is too little to know a voice by")
    return voice


def needs_of(case: Case) -> Mapping[str, Need]:
    """The voice and the speech of the output and of each reference voice."""
    found: dict[str, Need] = {
        "output": ExpertNeed("speaker_verification"),
        "spoken": ExpertNeed("speech_activity"),
    }
    for role in voices(case):
        number = role.partition(":")[2]
        found[f"voice_{number}"] = ExpertNeed("speaker_verification", (role,))
        found[f"speech_{number}"] = ExpertNeed("speech_activity", (role,))
    return found


_NUMBERED = frozenset(f"{name}_{number}" for name in ("voice", "speech") for number in range(64))
METRIC = Metric(
    id="ts",
    version=2,
    title="Timbre similarity (TS)",
    summary="Cosine of the voice in the output and the reference voice.",
    direction=Direction.HIGHER,
    range=(-1.0, 1.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.8",
    needs={},
    needs_of=needs_of,
    compute=compute,
    reads=("data", "references"),
    optional=frozenset({"output", "spoken"}) | _NUMBERED,
)
