"""Synchformer: by how much sound and picture are apart, as a probability for each of 21 offsets.

Iashin, Xie, Rahtu and Zisserman, "Synchformer", ICASSP 2024; used by AVE-Compass (av_sync, section 4.4). The network is
a file that the user mounts. It hears and sees the first five seconds at 25 frames a second, in 14 segments of 0.64 s
that overlap by half. Sound and pictures are put together by their presentation times, as a player does.

Option `window`: "first" (default, as published) or "last", the final five seconds (AVE-Compass 4.4, profile strict);
the segments are the middle 4.8 s of either.
Option `reencode`: true for a clip that goes through H.264 and AAC first, as the published code does it (profile compat)
with every clip that is not at 25 frames a second, 16 kHz and a short side of 256 already.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.features import SyncOffset
from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.experts.waveform import RATE, samples_of, sound_need, zero_padded
from evaluator.media import steps_torch
from evaluator.media.reencode import LOOKAHEAD, reencoded
from evaluator.media.sampling import select
from evaluator.media.types import F32, U8, Audio, ClipInfo, Frames
from evaluator.runtime.arrays import is_host, to_host
from evaluator.schema import ExpertNeed, Filter, Fit, FramesNeed, Need, Sampling, View

FILE = "synchformer.onnx"
FPS = 25
FRAMES = 5 * FPS
SAMPLES = 5 * RATE
SAMPLES_PER_FRAME = RATE // FPS  # 640
SAME_RATE = 1e-3
"""Frames per second by which a clip at 25 may miss it: its time stamps are rounded."""

SHORT_SIDE, SIDE = 256, 224  # pixels: scaled to, then cropped to
VIEWS = {
    window: View(Sampling(rule, (FPS, FRAMES)), Fit.SHORT_SIDE, SHORT_SIDE, filter=Filter.FFMPEG_BICUBIC)
    for window, rule in (("first", "fps_head"), ("last", "fps_tail"))
}
VIEW = VIEWS["first"]
"""As the reference scales, by FFmpeg, without its lossy re-encoding; `cropped` cuts the square."""
WHOLE_VIEW = replace(VIEW, sampling=Sampling("fps_head", (FPS, FRAMES + LOOKAHEAD)))
"""What is encoded again: as many frames more as the coding of the first five seconds looks at."""

SEGMENTS = 14
SEGMENT = 16  # frames, 0.64 s
SEGMENT_HOP = 8  # frames
FIRST = (FRAMES - SEGMENT - (SEGMENTS - 1) * SEGMENT_HOP) // 2  # frame 2: the segments lie in the middle

FFT = 1024
WINDOW = 400  # samples, 25 ms
HOP = 160  # samples, 10 ms
MELS = 128
LOG_OFFSET = 1e-6
COLUMNS = 66  # a segment makes 65; the last holds the logarithm 0.0
MEAN, DEVIATION = -4.2677393, 4.5689974  # of AudioSet; features are scaled by twice the deviation

GRID = np.linspace(-2.0, 2.0, 21, dtype=np.float32)
"""Seconds. Positive: the sound comes early."""

ELEMENT_TYPES: Mapping[str, type[np.float16] | type[np.float32]] = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
}


class Synchformer(Expert):
    """capability `av_sync`. A clip under five seconds is completed with its last frame and silence, and says so."""

    id = "synchformer"
    version = 2
    capability = "av_sync"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        options: dict[str, Any] = dict(want.options)
        window = options.get("window", "first")
        if window not in VIEWS:
            raise ValueError(f"option window: expected one of {sorted(VIEWS)}, found {window!r}")
        if options.get("reencode") and window != "first":
            raise ValueError(f"option reencode: encodes the first five seconds, not window {window!r}")
        view = WHOLE_VIEW if options.get("reencode") else VIEWS[window]
        return {"frames": FramesNeed(view, role=want.roles[0]), "audio": sound_need(want)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SyncOffset:
        frames, options = inputs["frames"], dict(want.options)
        if options.get("reencode"):
            pictures, sound = recoded(frames, inputs["audio"])
        else:
            pictures = cropped(frames.data, in_form(frames.clip))
            sound = aligned(inputs["audio"], window_start(frames, last=options.get("window") == "last"))
        session = self.sessions.session(self.id, FILE)
        video = video_segments(pictures, _element_type(session.inputs["video"][1]))
        logits = session.run({"video": video, "audio": audio_segments(sound)})["logits"]
        padded = len(pictures) < FRAMES or len(sound) < SAMPLES
        return SyncOffset(_softmax(logits[0].astype(np.float64)), GRID.copy(), padded)


def _element_type(name: str) -> type[np.float16] | type[np.float32]:
    """The numpy type of the video input. Published engines run in float16 on a GPU; a CPU needs float32."""
    if name not in ELEMENT_TYPES:
        raise ExpertError(f"{FILE}: the video input has type {name}; expected one of {', '.join(ELEMENT_TYPES)}.")
    return ELEMENT_TYPES[name]


def window_start(frames: Frames, last: bool) -> float:
    """When the first slot of a window shows, in seconds. Of the last one, that may be later than its picture's time."""
    video = frames.clip.video
    if not last or video is None:
        return float(frames.time[0])
    start = float(video.times[0])
    slots = len(select(Sampling("fps", (FPS,)), video.times, start + video.duration))
    return start + (slots - len(frames.data)) / FPS


def cropped(pictures: U8, whole: bool) -> U8:
    """The middle [n, 224, 224, 3] of pictures [n, H, W, 3].

    Unless a clip is taken whole, as it is, its odd side loses the last line first: the published code brings it to
    even sides before it crops. A picture of 16:9 is 455 pixels long, so that this moves the square by one.
    """
    sides = (side if whole else side // 2 * 2 for side in pictures.shape[1:3])
    top, left = (round((side - SIDE) / 2) for side in sides)
    return pictures[:, top : top + SIDE, left : left + SIDE]


def recoded(frames: Frames, audio: Audio) -> tuple[U8, F32]:
    """(at most 125 frames [n, 224, 224, 3], their sound) after the coding, if the clip is not in the form already."""
    data, sound = to_host(frames.data), aligned(audio, float(frames.time[0]), SAMPLES + LOOKAHEAD * SAMPLES_PER_FRAME)
    seconds = min(len(sound), SAMPLES)  # what the coding adds to fill its last packet is no sound of the clip
    if not in_form(frames.clip):
        data, sound = reencoded(data, np.rint(sound * 32768).astype(np.int16), FPS, RATE)
    return cropped(data[:FRAMES], in_form(frames.clip)), sound[:seconds]


def in_form(clip: ClipInfo) -> bool:
    """Whether the published code takes the clip as it is."""
    if clip.video is None or clip.audio is None:
        return False
    return (
        math.isclose(clip.video.rate, FPS, abs_tol=SAME_RATE)
        and clip.audio.rate == RATE
        and min(clip.video.width, clip.video.height) == SHORT_SIDE
    )


def aligned(audio: Audio, start: float, length: int = SAMPLES) -> F32:
    """`length` samples from `start` (the presentation time of the first frame), five seconds; shorter at the end.

    Raises NotApplicable if there is none.
    """
    samples = samples_of(audio, "Synchformer")
    late = round((audio.start - start) * RATE)  # samples by which the sound begins after the picture
    if late >= SAMPLES or -late >= len(samples):
        raise NotApplicable("not_applicable", "No sound coincides with the five seconds of picture that are watched.")
    return np.pad(samples, (max(0, late), 0))[max(0, -late) :][:length]


def video_segments(frames: U8, element: type[np.float16] | type[np.float32]) -> npt.NDArray[Any]:
    """Segments [1, 14, 16, 3, 224, 224] in -1..1 of at most 125 frames [n, 224, 224, 3], the last one repeated."""
    chosen = np.minimum(np.arange(FRAMES), len(frames) - 1)
    levels: npt.NDArray[Any] = np.arange(256).astype(element)
    table = (levels / element(255) - element(0.5)) / element(0.5)  # rounded as the element type rounds
    seen = frames[chosen]
    picture = table[seen.transpose(0, 3, 1, 2)] if is_host(seen) else steps_torch.looked_up(seen, table)
    segments: npt.NDArray[Any] = picture[np.add.outer(_segment_starts(), np.arange(SEGMENT))]  # of [125, 3, 224, 224]
    return segments[None]


def audio_segments(sound: F32) -> F32:
    """Log-mel segments [1, 14, 1, 128, 66] of the first five seconds, completed with zeros."""
    whole = zero_padded(sound, SAMPLES)
    length = SEGMENT * SAMPLES_PER_FRAME  # 10,240
    starts = [first * SAMPLES_PER_FRAME for first in _segment_starts()]
    return np.stack([_log_mel(whole[start : start + length]) for start in starts])[None, :, None]


def _segment_starts() -> range:
    """First frames of the segments: 2, 10, ... 106."""
    return range(FIRST, FIRST + SEGMENTS * SEGMENT_HOP, SEGMENT_HOP)


def _log_mel(samples: F32) -> F32:
    """Scaled log-mel power of one segment: [128, 66]."""
    bank = mel_bank(RATE, FFT, MELS, 0.0, RATE / 2, "htk")
    padded = np.pad(samples, FFT // 2, mode="reflect")
    mel = mel_spectrogram(padded, hann(WINDOW, FFT), HOP, bank, power=2)  # [65, 128]
    columns = np.zeros((COLUMNS, MELS))
    columns[: len(mel)] = np.log(mel + LOG_OFFSET)
    return ((columns.T - MEAN) / (2.0 * DEVIATION)).astype(np.float32)


def _softmax(logits: npt.NDArray[np.float64]) -> F32:
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum(), np.float32)


EXPERT = Synchformer
