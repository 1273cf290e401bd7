"""TS with speakers told apart (section 3.8), profile `diarised`: the speaker of the output who is nearest to the voice.

The paper compares the whole speech, so this is off by default. In a dialogue, the whole speech is a mixture of voices
that is near to none; here each speaker of the output is compared alone. Which of them had to have the reference voice
nobody knows: the best match counts, so that a wrong speaker lowers the value and a second one does not.
Speakers are told apart, and compared, by Resemblyzer, whatever model serves TS.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.features import SpeakerEmbedding, SpeechActivity, VoicesApart
from evaluator.metrics.arithmetic import cosine
from evaluator.metrics.base import Outcome
from evaluator.schema import Case, ExpertNeed, Need
from evaluator.suites.multiref_compass import ts
from evaluator.suites.multiref_compass.choices import LEAST_SPEECH
from evaluator.suites.multiref_compass.data import voices


def compute(case: Case, output: VoicesApart | None, **heard: Any) -> Outcome:
    """Cosine of the nearest pair of a reference voice and a speaker with enough speech.

    Raises NotApplicable `filtered` for too little speech on a side.
    """
    speakers = [at for at in range(len(output.turns)) if output.seconds(at) >= LEAST_SPEECH] if output else []
    if output is None or not speakers:
        raise NotApplicable(
            "filtered", f"output: no speaker is heard for {LEAST_SPEECH:g} s in turns of 1.2 s and more"
        )
    found: dict[str, dict[int, float]] = {}
    for role in voices(case):
        number = role.partition(":")[2]
        voice: SpeakerEmbedding | None = heard[f"voice_{number}"]
        spoken: SpeechActivity | None = heard[f"speech_{number}"]
        reference = ts.required(spoken, voice, role)
        name = case.references[int(number)].entity or role
        found[name] = {at: cosine(output.vectors[at], reference.vector) for at in speakers}
    best = {name: max(own, key=lambda at: own[at]) for name, own in found.items()}
    nearest = max(sorted(found), key=lambda name: found[name][best[name]])
    details = {
        "voices": {name: {f"speaker {at + 1}": value for at, value in own.items()} for name, own in found.items()},
        "nearest": nearest,
        "speaker": best[nearest] + 1,
        "turns": [[list(span) for span in turns] for turns in output.turns],
    }
    return Outcome(found[nearest][best[nearest]], details=details)


def needs_of(case: Case) -> Mapping[str, Need]:
    """The speakers of the output, and each reference voice in the same space."""
    found: dict[str, Need] = {"output": ExpertNeed("voices_apart")}
    for role in voices(case):
        number = role.partition(":")[2]
        found[f"voice_{number}"] = ExpertNeed("speaker_embedding", (role,))
        found[f"speech_{number}"] = ExpertNeed("speech_activity", (role,))
    return found


METRIC = replace(
    ts.METRIC,
    title="Timbre similarity (TS), speakers told apart",
    summary="Cosine of the nearest speaker in the output and the reference voice.",
    needs_of=needs_of,
    compute=compute,
    stands_in_for={"speaker_embedding": "ECAPA-TDNN"},
)
