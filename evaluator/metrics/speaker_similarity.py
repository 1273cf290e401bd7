"""Is it the same voice? Cosine of the speaker embeddings of output and source.

One vector stands for all the speech of a clip: with several speakers it is their mixture.
"""

from __future__ import annotations

from evaluator.experts.features import AudioTags, SpeakerEmbedding, SpeechActivity
from evaluator.metrics.arithmetic import cosine, cosine_score
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.gates import require_speech
from evaluator.schema import ExpertNeed


def compute(  # one pair of witnesses for each of two clips
    output: SpeakerEmbedding,
    source: SpeakerEmbedding,
    output_activity: SpeechActivity,
    source_activity: SpeechActivity,
    output_tags: AudioTags,
    source_tags: AudioTags,
) -> Outcome:
    """(cosine + 1) / 2; `raw` is the cosine. Raises NotApplicable if either clip has no speech."""
    require_speech(output_activity, output_tags, "output")
    require_speech(source_activity, source_tags, "source")
    similarity = cosine(output.vector, source.vector)
    details = {"output_speech_sec": output.seconds, "source_speech_sec": source.seconds}
    return Outcome(cosine_score(similarity), raw=similarity, details=details)


METRIC = Metric(
    id="speaker_similarity",
    version=1,
    title="Speaker similarity",
    summary="Similarity of the voices in output and source.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="GE2E speaker verification (Wan et al.; ICASSP 2018), scaled as AVE-Compass 4.8",
    needs={
        "output": ExpertNeed("speaker_embedding", ("video",)),
        "source": ExpertNeed("speaker_embedding", ("source",)),
        "output_activity": ExpertNeed("speech_activity", ("video",)),
        "source_activity": ExpertNeed("speech_activity", ("source",)),
        "output_tags": ExpertNeed("audio_tags", ("video",)),
        "source_tags": ExpertNeed("audio_tags", ("source",)),
    },
    compute=compute,
)
