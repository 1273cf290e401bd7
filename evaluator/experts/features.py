"""What experts hand to metrics: one type per capability, whichever model produced it.

Plain frozen arrays; metrics depend on these types and never on a model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.media.types import F32, F64, I64


@dataclass(frozen=True, slots=True)
class ShotScores:
    """capability `shot_boundaries`: probability that a transition happens at each frame."""

    probability: F32  # [N], every frame of the clip
    time: F64  # [N] seconds
    rate: float  # mean frames per second


@dataclass(frozen=True, slots=True)
class Embeddings:
    """capabilities `image_embedding` (one row per sampled frame) and `video_embedding` (one row per clip)."""

    vectors: F32  # [N, D], each of length 1
    index: I64  # [N] frame positions that were embedded


@dataclass(frozen=True, slots=True)
class SpeechQuality:
    """capabilities `speech_quality` and `plcmos`: mean opinion score, 1 (bad) to 5 (excellent), and diagnostics on
    that scale."""

    mos: float
    diagnostics: dict[str, float]


@dataclass(frozen=True, slots=True)
class DnsMos:
    """capability `dnsmos`: mean opinion scores of speech, 1 (bad) to 5 (excellent)."""

    sig: float  # the speech itself (ITU-T P.835)
    bak: float  # the background
    ovrl: float  # overall
    p808: float  # overall, by the listening test of ITU-T P.808


@dataclass(frozen=True, slots=True)
class SpeechActivity:
    """capability `speech_activity`: probability of speech per step of `step` seconds."""

    probability: F32  # [K]
    step: float
    duration: float  # seconds of sound

    def segments(self, threshold: float = 0.5) -> list[tuple[float, float]]:
        """(start, end) in seconds of maximal runs above the threshold."""
        active = np.concatenate([[False], self.probability > threshold, [False]])
        edges = np.flatnonzero(active[1:] != active[:-1]).reshape(-1, 2)
        return [(float(a) * self.step, min(float(b) * self.step, self.duration)) for a, b in edges]

    def seconds(self, threshold: float = 0.5) -> float:
        """Seconds of speech."""
        return sum(end - start for start, end in self.segments(threshold))


@dataclass(frozen=True, slots=True)
class AudioTags:
    """capability `audio_tags`: probability of each class, per patch."""

    probability: F32  # [P, classes]
    names: tuple[str, ...]
    step: float  # seconds between patches

    def top(self, count: int = 5) -> list[tuple[str, float]]:
        """The classes with the largest mean probability over the clip."""
        mean = self.probability.mean(axis=0)
        order = np.argsort(-mean, kind="stable")[:count]
        return [(self.names[i], float(mean[i])) for i in order]


@dataclass(frozen=True, slots=True)
class SpeakerEmbedding:
    """capability `speaker_embedding`: one vector for the voice of a clip."""

    vector: F32  # [D], length 1
    seconds: float  # of speech that went in


@dataclass(frozen=True, slots=True)
class FaceTrack:
    """capability `faces`: the most prominent face of each watched frame; rows are NaN where none was found."""

    index: I64  # [N] frame positions
    time: F64  # [N] seconds
    score: F32  # [N] detection probability of the best face, 0 if none
    box: F32  # [N, 4] x1, y1, x2, y2 as fractions of the picture
    count: I64  # [N] faces above the detection threshold
    mouth_opening: F32  # [N] inner-lip distance over face height; NaN where no face or mesh
    detector: tuple[str, ...]  # [N] which detector found it: "", "blazeface" or "mtcnn"


@dataclass(frozen=True, slots=True)
class FrameDistance:
    """capability `frame_distance`: perceptual distance of frame pairs of two clips, 0 = equal."""

    values: F32  # [N]


@dataclass(frozen=True, slots=True)
class InterpolationError:
    """capability `frame_interpolation`: how far real frames are from those predicted by their neighbours."""

    error: F32  # [K] mean absolute difference in grey levels, 0..255
    index: I64  # [K] positions of the predicted frames
    sampled: bool  # True if only some frames were tested
    plan: str  # the declared sub-sampling, in words


@dataclass(frozen=True, slots=True)
class AudioAesthetics:
    """capability `audio_aesthetics`: four axes, 1..10."""

    axes: dict[str, float]  # "PQ", "CU", "CE", "PC"
    windows: int


@dataclass(frozen=True, slots=True)
class FrameAesthetics:
    """capability `frame_aesthetics`: one figure per sampled frame, nominally 1..10."""

    values: F32  # [N]
    index: I64  # [N]


@dataclass(frozen=True, slots=True)
class SyncOffset:
    """capability `av_sync`: probability of each offset of a grid in seconds; positive = the sound comes early."""

    probability: F32  # [K]
    grid: F32  # [K] seconds
    padded: bool  # the clip was shorter than the model's window


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was said between two moments, and how sure the recogniser is."""

    start: float  # seconds
    end: float  # seconds
    text: str
    logprob: float  # mean natural logarithm of the tokens' probabilities
    no_speech: float  # probability that the window holds no speech


@dataclass(frozen=True, slots=True)
class Transcript:
    """capability `transcript`: what was said. Without speech there are no utterances and the language is empty."""

    language: str  # ISO 639-1, or the recogniser's own code
    language_probability: float  # 0 if no language was looked for
    utterances: tuple[Utterance, ...]
    duration: float  # seconds of sound

    @property
    def text(self) -> str:
        """All of it on one line."""
        return " ".join(utterance.text for utterance in self.utterances)
