"""What experts hand to metrics: one type per capability, whichever model produced it.

Plain frozen arrays; metrics depend on these types and never on a model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluator.media.types import F32, F64, I64, U8, Bool


@dataclass(frozen=True, slots=True)
class ShotScores:
    """capability `shot_boundaries`: probability that a transition happens at each frame."""

    probability: F32  # [N], every frame of the clip
    time: F64  # [N] seconds
    rate: float  # mean frames per second


@dataclass(frozen=True, slots=True)
class Embeddings:
    """capabilities `image_embedding` (one row per sampled frame), `video_embedding` (one row per clip) and
    `text_embedding` (one row)."""

    vectors: F32  # [N, D], each of length 1
    index: I64  # [N] frame positions that were embedded


@dataclass(frozen=True, slots=True)
class SpeechQuality:
    """capabilities `speech_quality` and `plcmos`: mean opinion score, 1 (bad) to 5 (excellent), and diagnostics on
    that scale."""

    mos: float
    diagnostics: dict[str, float]
    rate: int = 16_000  # Hz of the sound that was heard


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
class StemFacts:
    """Level of one stem over all of its samples and channels, full scale 1."""

    rms: float
    peak: float
    energy_ratio: float  # its share of the energy of all stems; 0 for every one of them in silence


@dataclass(frozen=True, slots=True)
class SoundStems:
    """capability `sound_stems`: a clip's sound taken apart into "drums", "bass", "other" and "vocals"."""

    mono: Mapping[str, F32]  # stem -> [T], the mean of its channels
    facts: Mapping[str, StemFacts]
    rate: int  # Hz
    start: float  # seconds, of the first sample


@dataclass(frozen=True, slots=True)
class StemTags:
    """capability `stem_tags`: what is heard in the segments, `step` seconds each, of the stems without voices."""

    tags: Mapping[str, AudioTags]  # "drums", "bass", "other"


@dataclass(frozen=True, slots=True)
class SpeakerEmbedding:
    """capability `speaker_embedding`: one vector for the voice of a clip."""

    vector: F32  # [D], length 1
    seconds: float  # of speech that went in


@dataclass(frozen=True, slots=True)
class VoicesApart:
    """capability `voices_apart`: the speakers of a clip, in the order in which they are first heard."""

    vectors: F32  # [S, D], each of length 1
    turns: tuple[tuple[tuple[float, float], ...], ...]  # per speaker, (start, end) in seconds

    def seconds(self, speaker: int) -> float:
        """Seconds of speech of one of them."""
        return sum(end - start for start, end in self.turns[speaker])


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
class WindowEmbeddings:
    """capabilities `lip_embedding` (from pictures) and `voice_embedding` (from sound): SyncNet's common space."""

    vectors: F32  # [F, D], not of length 1; one per frame or per 0.04 s of sound
    rate: float  # windows per second


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


@dataclass(frozen=True, slots=True)
class PointTracks:
    """capability `point_tracks`: where the points of a regular grid on the first sampled frame go."""

    xy: F32  # [P, T, 2] pixels of the square that was watched; may lie outside it
    visible: Bool  # [P, T] True where the tracker sees the point
    index: I64  # [T] frame positions
    side: int  # pixels of the square


@dataclass(frozen=True, slots=True)
class TechnicalQuality:
    """capability `technical_quality`: a raw figure per clip of frames, before any scale, and which pixels were seen."""

    raw: F32  # [K] one per clip of frames, mean over the output map
    starts: I64  # [K] first frame of each clip
    seed: int  # what the starts and the patches were drawn from
    patches: str  # SHA-256 of all patch positions


@dataclass(frozen=True, slots=True)
class GroundedBoxes:
    """capability `grounded_boxes`: for each phrase, the best box over the probed frames."""

    phrases: tuple[str, ...]
    box: F32  # [P, 4] x1, y1, x2, y2 as fractions of the picture
    score: F32  # [P]
    frame: I64  # [P] which of the probed frames it was found on

    @property
    def area(self) -> F32:
        """[P] share of the picture."""
        x1, y1, x2, y2 = np.clip(self.box, 0.0, 1.0).T
        return np.asarray(np.maximum(x2 - x1, 0.0) * np.maximum(y2 - y1, 0.0), np.float32)


@dataclass(frozen=True, slots=True)
class RegionMasks:
    """capability `region_masks`: the union of the objects that were found, on each sampled frame."""

    bits: U8  # [T, ceil(H * W / 8)] rows of pixels, packed eight to a byte
    height: int
    width: int
    kept: tuple[str, ...]  # phrases whose box was accepted
    dropped: tuple[str, ...]  # phrases that nothing was found for
    index: I64  # [T] frame positions

    def mask(self, row: int) -> Bool:
        """[H, W], True inside the objects."""
        flat = np.unpackbits(self.bits[row], count=self.height * self.width)
        return flat.reshape(self.height, self.width).astype(bool)


@dataclass(frozen=True, slots=True)
class RegionSimilarity:
    """capability `region_similarity`: how alike the same objects look in two clips, frame by frame."""

    cosine: F32  # [F] of the frames that both clips have; -1 where the second clip shows nothing
    missing: Bool  # [F] the second clip shows nothing of the objects
    kept: tuple[tuple[str, ...], tuple[str, ...]]  # phrases found in the first and in the second clip
    compared: int  # frames that were looked at, used or not


@dataclass(frozen=True, slots=True)
class FaceClip:
    """One face that was followed, cut out 25 times a second as SyncNet wants it: square, more chin than forehead."""

    first: int  # slot of 1/25 s of its first frame, from the first frame of the clip
    crops: U8  # [F, 224, 224, 3] RGB
    detections: int  # slots on which it was found; on the others it was filled in


@dataclass(frozen=True, slots=True)
class FaceClips:
    """capability `face_clips`: the faces that could be followed long enough."""

    tracks: tuple[FaceClip, ...]
    started: int  # tracks that began, those that were too short or too small included


@dataclass(frozen=True, slots=True)
class LipTrack:
    """One face that was followed: vectors of five-frame windows of its lower half, 25 a second."""

    first: int  # slot of 1/25 s of its first frame, from the first frame of the clip
    vectors: F32  # [F, D] in SyncNet's space


@dataclass(frozen=True, slots=True)
class LipTracks:
    """capability `face_lip_embedding`: SyncNet's eye on the faces that could be followed."""

    tracks: tuple[LipTrack, ...]
    started: int  # tracks that began; those that are missing here were too short or too small


@dataclass(frozen=True, slots=True)
class Alignment:
    """capabilities `clip_text_image`, `clap_text_audio` (text with each frame or window), `imagebind_av` (sound with
    picture): cosines in the model's common space; `text_and_picture_names`, `text_and_sound_names`: in another one;
    `sound_and_picture_names`: no cosines, and -1..1 too."""

    cosines: F32  # [N]


@dataclass(frozen=True, slots=True)
class Detections:
    """capability `object_detections`: things of named classes in sampled frames; every box is one row."""

    row: I64  # [K] which sampled frame, 0..len(index) - 1, ascending
    box: F32  # [K, 4] x1, y1, x2, y2 as fractions of the picture
    score: F32  # [K] 0..1
    name: tuple[str, ...]  # [K]
    index: I64  # [N] frame positions that were looked at


@dataclass(frozen=True, slots=True)
class SpottedText:
    """capability `text_spotting`: lines of text in sampled frames, frame by frame in reading order; each is one row."""

    row: I64  # [K] which sampled frame, 0..len(index) - 1, ascending
    corners: F32  # [K, 4, 2] x, y as fractions of the picture, clockwise from the top left one
    score: F32  # [K] mean probability of the characters
    text: tuple[str, ...]  # [K]
    index: I64  # [N] frame positions that were read
    time: F64  # [N] seconds


@dataclass(frozen=True, slots=True)
class Crops:
    """Parts of sampled frames and what they look like; every part is one row."""

    row: I64  # [K] which sampled frame
    box: F32  # [K, 4] x1, y1, x2, y2 as fractions of the picture
    vectors: F32  # [K, D], each of length 1


@dataclass(frozen=True, slots=True)
class EntityCues:
    """capability `entity_cues`: what may be compared with pictures of an entity. Face k and body k are one person."""

    whole: F32  # [N, D] the sampled frames themselves, each of length 1
    faces: Crops
    bodies: Crops
    regions: Crops  # where an object may be
    detected: bool  # regions come from a detector and not from a grid
    index: I64  # [N] frame positions
