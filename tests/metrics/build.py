"""Small features for tests of metrics: what experts and media would hand over, made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.experts.features import AudioTags, Embeddings, FaceTrack, ShotScores, SpeechActivity
from evaluator.media.types import Audio, ClipInfo, Frames

RATE = 16_000


def sound(values: npt.ArrayLike, rate: int = RATE, start: float = 0.0, present: bool = True) -> Audio:
    """Audio from values in [-1, 1]."""
    scaled = np.clip(np.round(32767 * np.asarray(values, np.float64)), -32768, 32767)
    return Audio(scaled.astype(np.int16), rate, present, start)


def seconds(duration: float, rate: int = RATE) -> npt.NDArray[np.float64]:
    """Sample times [T]."""
    return np.arange(round(duration * rate)) / rate


def tone(duration: float, hertz: float = 440.0, amplitude: float = 0.3, rate: int = RATE) -> Audio:
    return sound(amplitude * np.sin(2 * np.pi * hertz * seconds(duration, rate)), rate)


def noise(duration: float, amplitude: float = 0.1, seed: int = 0, rate: int = RATE) -> Audio:
    generator = np.random.default_rng(seed)
    return sound(amplitude * generator.uniform(-1, 1, round(duration * rate)), rate)


def silent(duration: float, present: bool = True) -> Audio:
    return sound(np.zeros(round(duration * RATE)), present=present)


def activity(speech: float = 3.0, duration: float = 5.0) -> SpeechActivity:
    """Speech from the start for `speech` seconds."""
    step = 0.032
    steps = round(duration / step)
    return SpeechActivity(
        np.where(np.arange(steps) < round(speech / step), 0.95, 0.02).astype(np.float32), step, duration
    )


def tags(speech: Sequence[float] = (0.9, 0.95, 0.8)) -> AudioTags:
    """Three classes, of which one is speech."""
    rows = [[probability, 0.3, 0.01] for probability in speech]
    return AudioTags(np.array(rows, np.float32).reshape(-1, 3), ("Speech", "Music", "Dog"), 0.48)


def embeddings(rows: npt.ArrayLike) -> Embeddings:
    vectors = np.asarray(rows, np.float32)
    return Embeddings(vectors, np.arange(len(vectors)))


def unit_rows(rows: npt.NDArray[np.float64]) -> Embeddings:
    return embeddings(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def shot_scores(probability: npt.ArrayLike, rate: float = 25.0, start: float = 0.0) -> ShotScores:
    values = np.asarray(probability, np.float32)
    return ShotScores(values, start + np.arange(len(values)) / rate, rate)


def gray(pictures: npt.ArrayLike) -> Frames:
    """Frames from gray pictures [N, H, W]."""
    data = np.asarray(pictures, np.uint8)[..., None]
    return Frames(data, np.arange(len(data)), np.arange(len(data)) / 25.0, ClipInfo("mp4", None, None))


def faces(opening: npt.ArrayLike, rate: float = 25.0, start: float = 0.0) -> FaceTrack:
    """A face in each frame whose mouth opening is not NaN."""
    mouth = np.asarray(opening, np.float32)
    seen = np.isfinite(mouth)
    box = np.where(seen[:, None], np.array([0.3, 0.2, 0.6, 0.7], np.float32), np.nan).astype(np.float32)
    return FaceTrack(
        index=np.arange(len(mouth)),
        time=start + np.arange(len(mouth)) / rate,
        score=np.where(seen, 0.9, 0.0).astype(np.float32),
        box=box,
        count=seen.astype(np.int64),
        mouth_opening=mouth,
        detector=tuple("blazeface" if one else "" for one in seen),
    )


def plain(value: Any) -> bool:
    """True if a tree holds only what JSON holds: finite numbers, text, booleans, null, lists and dictionaries."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(plain(item) for item in value)
    if isinstance(value, float):
        return type(value) is float and bool(np.isfinite(value))
    return value is None or type(value) in {int, str, bool}
