"""Did the stream survive that nobody asked to edit? Pictures of audio-only edits, sound of video-only ones.

Spec 4.8 and 4.9.

VideoCLIP-XL where it is mounted; else the mean frame embedding of `evaluator.metrics.video_similarity` stands in.
"""

from __future__ import annotations

from dataclasses import replace

from evaluator.errors import NotApplicable
from evaluator.experts.features import Embeddings
from evaluator.media.types import Audio
from evaluator.metrics import audio_similarity, video_similarity
from evaluator.metrics.arithmetic import cosine, cosine_score
from evaluator.metrics.base import Outcome
from evaluator.metrics.levels import is_silent, rms
from evaluator.schema import AudioNeed, ExpertNeed, Need, Sampling
from evaluator.suites.ave_compass.frame_counts import told, trusting


def clip_similarity(output: Embeddings, source: Embeddings) -> Outcome:
    """(rho + 1) / 2 in [0, 1] of one vector per clip; `raw` is the cosine rho. Details: frames that each clip gave."""
    rho = cosine(output.vectors[0], source.vectors[0])
    frames = {"output_frames": len(output.index), "source_frames": len(source.index)}
    return Outcome(cosine_score(rho), raw=rho, details=frames)


def _both(capability: str, sampling: Sampling) -> dict[str, Need]:
    """What a model says about eight frames of either clip."""
    clips = {"output": "video", "source": "source"}
    return {name: ExpertNeed(capability, (role,), sampling) for name, role in clips.items()}


STAND_IN = replace(video_similarity.METRIC, id="videoclip_video_similarity")
VIDEOCLIP = replace(
    STAND_IN,
    summary="Similarity of the pictures of output and source, from eight frames each, in their order.",
    paper="AVE-Compass 4.8",
    needs=_both("video_embedding", video_similarity.EIGHT_FRAMES),
    compute=clip_similarity,
    stands_in_for={},
    instead=STAND_IN,
)
VIDEO_SIMILARITY = told(VIDEOCLIP, "video", "source")

PROMISED = trusting(video_similarity.EIGHT_FRAMES)
VIDEO_SIMILARITY_COMPAT = told(
    replace(
        VIDEOCLIP,
        needs=_both("video_embedding", PROMISED),
        instead=replace(STAND_IN, needs=_both("image_embedding", PROMISED)),
    ),
    "video",
    "source",
)

COMPAT_SILENCE_RMS = 1e-3  # int16 units: digital silence only
COMPAT_SHORTEST = audio_similarity.WINDOW  # samples; below, the reference's spectrogram fails


def compat_similarity(output: Audio, source: Audio) -> Outcome:
    """As in `paper`, but faint noise is no silence, so that it scores 0 against digital silence.

    Raises NotApplicable for sound of less than 1024 samples, on which the reference fails.
    """
    if max(rms(output.samples), rms(source.samples)) < COMPAT_SILENCE_RMS:
        return audio_similarity.both_silent(output, source)
    shortest = min(len(output.samples), len(source.samples))
    if shortest < COMPAT_SHORTEST:
        raise NotApplicable("not_applicable", f"{shortest} samples: the reference fails below {COMPAT_SHORTEST}.")
    return audio_similarity.similarity(output, source, shortest=0)


def strict_similarity(output: Audio, source: Audio) -> Outcome:
    """The score of `paper` times the share of the longer sound that was compared, so that a truncation shows."""
    if is_silent(output) and is_silent(source):
        return audio_similarity.both_silent(output, source)
    plain = audio_similarity.similarity(output, source)
    spectra = (audio_similarity.spectrogram(source.samples), audio_similarity.spectrogram(output.samples))
    share = audio_similarity.overlap(*spectra, plain.details["best_lag_frames"])
    return replace(plain, value=plain.value * share, details={**plain.details, "overlap": share})


AUDIO_SIMILARITY_COMPAT = replace(
    audio_similarity.METRIC,
    needs={"output": AudioNeed(role="video"), "source": AudioNeed(role="source")},
    compute=compat_similarity,
)
AUDIO_SIMILARITY_STRICT = replace(audio_similarity.METRIC, compute=strict_similarity)
