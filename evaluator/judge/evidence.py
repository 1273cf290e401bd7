"""Evidence from pictures and sound: frames with explicit times, stills, crops, strips, mel pictures, sound.

We sample and encode; a judge's server never opens a file. Everything is bounded by a `Budget`, and what a bound took
away is in the record of the exhibit. Times are seconds from the start of the clip, in whole milliseconds: that is what
the request can carry and what the ledger keeps. Knows nothing about questions or endpoints.
"""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.judge.evidence_mel import mel_picture
from evaluator.judge.evidence_picture import JPEG, PNG, Box, bounded, cut_out, encode, side_by_side
from evaluator.judge.types import AudioPart, Evidence, FramesPart, ImagePart, Part
from evaluator.media.types import F64, I16, I64, U8, Audio, Frames

SOUND_RATE = 16_000
"""Hz. Servers that meet another rate need a resampler of their own, and some fail."""


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that one part of the evidence may hold. Raises ValueError for an odd or empty number of frames."""

    frames: int = 32  # per clip
    frame_side: int = 768  # pixels, longer side of a frame of a clip
    still_side: int = 1024  # pixels, longer side of a still, a crop or a strip
    seconds: float = 120.0  # of sound

    def __post_init__(self) -> None:
        if self.frames < 2 or self.frames % 2:
            raise ValueError(f"frames = {self.frames}: a judge that sees frames in pairs needs an even number")


BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One part of the evidence and what a record says about it (JSON values only)."""

    part: Part
    record: Mapping[str, Any]


def clip_frames(frames: Frames, name: str, budget: Budget = BUDGET) -> Exhibit:
    """The sampled frames of one clip, at most as many as the budget allows, thinned evenly."""
    times = _since_start(frames)
    moments = _moments(times, budget.frames)
    return _frames_exhibit(frames, _nearest(times, moments), moments, name, budget)


def paired_frames(
    source: Frames, target: Frames, names: tuple[str, str] = ("source", "target"), budget: Budget = BUDGET
) -> tuple[Exhibit, Exhibit]:
    """The sampled frames of two clips at the same times, as many of one as of the other.

    One request has one list of times for all its clips. The times are those of the clip whose samples end first; the
    other clip shows its nearest samples. `skew` in the record is the largest distance between a shown frame and its
    time, in seconds: sample both clips by one rule of time (`fps`) to keep it small.
    """
    first, second = _since_start(source), _since_start(target)
    moments = _moments(first if first[-1] <= second[-1] else second, budget.frames)
    return (
        _frames_exhibit(source, _nearest(first, moments), moments, names[0], budget),
        _frames_exhibit(target, _nearest(second, moments), moments, names[1], budget),
    )


def still(frames: Frames, row: int, name: str, budget: Budget = BUDGET) -> Exhibit:
    """One sampled frame as a lossless picture."""
    return _image(frames.data[row], name, budget, {"time": _time(frames, row)})


def crop(frames: Frames, row: int, box: Box, name: str, margin: float = 0.0, budget: Budget = BUDGET) -> Exhibit:
    """A part of one sampled frame. Raises ValueError for a box that is empty or outside the picture."""
    picture = cut_out(frames.data[row], box, margin)
    return _image(picture, name, budget, {"time": _time(frames, row), "box": list(box), "margin": margin})


def strip(pictures: Sequence[U8], name: str, budget: Budget = BUDGET) -> Exhibit:
    """Pictures [H, W, C] of one moment or one subject, side by side from left to right."""
    return _image(side_by_side(pictures), name, budget, {"pictures": len(pictures)})


def sound(audio: Audio, name: str, budget: Budget = BUDGET) -> Exhibit:
    """The sound itself as a WAV file. Raises ValueError for another rate or a clip without a sound track."""
    samples = _bounded_sound(audio, budget)
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SOUND_RATE)
        file.writeframes(samples.astype("<i2").tobytes())
    part = AudioPart(buffer.getvalue(), name)
    return Exhibit(part, _record(part, "audio", len(part.wav), seconds=_seconds(samples), of=_seconds(audio.samples)))


def mel(tracks: Mapping[str, Audio], name: str, cuts: Sequence[float] = (), budget: Budget = BUDGET) -> Exhibit:
    """Sounds as one log-mel picture, the first on top, for a judge that cannot hear. `cuts` are marked, in seconds."""
    sounds = {label: _bounded_sound(audio, budget) for label, audio in tracks.items()}
    picture = mel_picture(sounds, SOUND_RATE, cuts)
    part = ImagePart(encode(picture, PNG), PNG, name, Evidence.MEL_IMAGE)
    heard = {
        label: {"seconds": _seconds(sounds[label]), "of": _seconds(audio.samples)} for label, audio in tracks.items()
    }
    return Exhibit(part, _record(part, "image", len(part.data), **_size(picture), tracks=heard, cuts=list(cuts)))


# --------------------------------------------------------------------------------------------------- which frames


def _since_start(frames: Frames) -> F64:
    """Times [N] of the frames from the clip's first frame on, in seconds."""
    if len(frames.time) == 0:
        raise ValueError("no frame was sampled")
    start = frames.clip.video.times[0] if frames.clip.video is not None else frames.time[0]
    return np.asarray(frames.time - start, np.float64)


def _moments(times: F64, most: int) -> I64:
    """At most `most` distinct times in milliseconds, evenly spread over those of the samples, rising."""
    distinct = np.unique(np.rint(1000.0 * times).astype(np.int64))  # an fps rule repeats frames
    return distinct[np.rint(np.linspace(0, len(distinct) - 1, min(len(distinct), most))).astype(np.int64)]


def _nearest(times: F64, moments: I64) -> I64:
    """For each moment the row of the nearest time; the earlier one of two that are equally near."""
    grid = moments / 1000.0
    right = np.searchsorted(times, grid).clip(max=len(times) - 1)
    left = (right - 1).clip(min=0)
    nearer = np.abs(times[left] - grid) <= np.abs(times[right] - grid)
    return np.asarray(np.where(nearer, left, right), np.int64)


def _time(frames: Frames, row: int) -> float:
    return round(float(_since_start(frames)[row]), 3)


# ------------------------------------------------------------------------------------------------ parts and records


def _frames_exhibit(frames: Frames, rows: I64, moments: I64, name: str, budget: Budget) -> Exhibit:
    """Frames `rows` shown at `moments`. A last one without a partner is shown again a millisecond later."""
    skew = round(float(np.abs(_since_start(frames)[rows] - moments / 1000.0).max()), 3)
    if len(rows) % 2:
        rows, moments = np.append(rows, rows[-1]), np.append(moments, moments[-1] + 1)
    pictures = {row: bounded(frames.data[row], budget.frame_side) for row in dict.fromkeys(rows.tolist())}
    files = {row: encode(picture, JPEG) for row, picture in pictures.items()}
    times = tuple(moment / 1000 for moment in moments.tolist())
    part = FramesPart(tuple(files[row] for row in rows.tolist()), times, JPEG, name)
    shown = {"frames": frames.index[rows].tolist(), "times": list(times), "skew": skew, "sampled": len(frames.index)}
    size = _size(pictures[int(rows[0])])
    return Exhibit(part, _record(part, "frames", sum(map(len, part.frames)), **size, **shown))


def _image(picture: U8, name: str, budget: Budget, extra: Mapping[str, Any]) -> Exhibit:
    shown = bounded(picture, budget.still_side)
    part = ImagePart(encode(shown, PNG), PNG, name)
    return Exhibit(part, _record(part, "image", len(part.data), **_size(shown), **extra))


def _record(part: Part, kind: str, size: int, **facts: Any) -> dict[str, Any]:
    return {
        "part": part.name,
        "kind": kind,
        "evidence": part.evidence.value,
        "sha256": part.sha256,
        "bytes": size,
        **facts,
    }


def _size(picture: U8) -> dict[str, int]:
    return {"width": picture.shape[1], "height": picture.shape[0]}


def _bounded_sound(audio: Audio, budget: Budget) -> I16:
    """Samples [T], cut off at the budget's seconds."""
    if not audio.present:
        raise ValueError("the clip has no sound track, and silence is not shown in its place")
    if audio.rate != SOUND_RATE or len(audio.samples) == 0:
        raise ValueError(f"expected sound at {SOUND_RATE} Hz, found {len(audio.samples)} samples at {audio.rate} Hz")
    return audio.samples[: round(budget.seconds * SOUND_RATE)]


def _seconds(samples: I16) -> float:
    return round(len(samples) / SOUND_RATE, 3)
