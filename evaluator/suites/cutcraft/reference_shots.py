"""Transitions and shots from TransNetV2's scores as CutCraft's reference code repairs them (spec 4.1), for `compat`.

Steps 1 to 4 look at scores and gray pictures; step 5 adds cuts until the number of shots that was asked for is reached,
which lets the answer leak into the measurement (D-04), and is a function of its own that only `compat` calls.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from evaluator.experts.features import Embeddings, ShotScores
from evaluator.media.types import F32, F64, U8, Frames
from evaluator.metrics.shots import runs_above, scenes
from evaluator.schema import ALL_FRAMES, Filter, Fit, FramesNeed, View
from evaluator.suites.cutcraft.labels import FLASHES, Optical
from evaluator.suites.cutcraft.rates import named
from evaluator.suites.cutcraft.reference_optical import optical_class

GRAY = View(ALL_FRAMES, Fit.SQUASH, 180, 320, Filter.BILINEAR, antialias=False, colour="gray")
GRAY_SMALL = View(ALL_FRAMES, Fit.SQUASH, 90, 160, Filter.BILINEAR, antialias=False, colour="gray")
PICTURES = {
    "gray": FramesNeed(GRAY),
    "small": FramesNeed(GRAY_SMALL),
}
"""What `detect` takes beside the scores. The reference seeks these frames; here they come out of the one pass."""

THRESHOLD = 0.35
SECOND_LOOK = 0.12

Span = tuple[int, int]
"""(first, last) frame, inclusive."""


@dataclass(frozen=True, slots=True)
class Found:
    """One transition of the reference."""

    first: int
    last: int
    optical: Optical
    confidence: float


@dataclass(frozen=True, slots=True)
class Detection:
    """What the reference knows after its post-processing."""

    transitions: tuple[Found, ...]
    shots: tuple[Span, ...]
    rate: float

    def start(self, found: Found) -> float:
        """Seconds at which a transition starts, as the reference dates it."""
        return round(found.first / self.rate, 3)


def detect(gray: Frames, small: Frames, scores: ShotScores, plateaus: bool = True) -> Detection:
    """Steps 1 to 4 of spec 4.1. Pictures and scores are of every frame.

    D-24: the reference merges the two ends of a flash and keeps the shot between them; `plateaus` off drops it.
    """
    probability, rate = scores.probability, named(scores.rate)
    runs = runs_above(probability, THRESHOLD)

    def optical(first: int, last: int) -> Optical:
        return optical_class(gray.data[..., 0], first, last, rate)

    found = [Found(a, b, optical(a, b), round(float(probability[a : b + 1].mean()), 4)) for a, b in runs]
    shots = scenes(len(probability), runs)
    found = merge_flashes(found, int(rate))
    shots = shots if plateaus else without_plateaus(shots, found)
    found, shots = search_flashes(found, shots, small.data[..., 0])
    found, shots = merge_dense(found, shots, small.data[..., 0], rate)
    found, shots = second_look(
        found, shots, probability, rate, lambda a, b: optical_class(gray.data[..., 0], a, b, rate)
    )
    return Detection(tuple(sorted(found, key=lambda one: one.first)), tuple(shots), rate)


def merge_flashes(found: list[Found], within: int) -> list[Found]:
    """Step 1: flashes of one colour at most `within` frames apart become one; shots are not touched."""
    kept: list[Found] = []
    for one in found:
        last = kept[-1] if kept else None
        if last and last.optical in FLASHES and last.optical is one.optical and one.first - last.last <= within:
            kept[-1] = replace(last, last=one.last, confidence=max(last.confidence, one.confidence))
        else:
            kept.append(one)
    return kept


def without_plateaus(shots: list[Span], found: list[Found]) -> list[Span]:
    """Shots but those that lie inside a flash."""
    flashes = [one for one in found if one.optical in FLASHES]
    return [(a, b) for a, b in shots if not any(one.first <= a and b <= one.last for one in flashes)]


def search_flashes(found: list[Found], shots: list[Span], small: U8) -> tuple[list[Found], list[Span]]:
    """Step 2: groups of frames much brighter or darker than the clip that no transition covers."""
    if len(small) < 30:
        return found, shots
    level = small.mean(axis=(1, 2))
    mean, deviation = float(level.mean()), float(level.std())
    white, black = max(mean + 2.5 * deviation, 160.0, 1.6 * mean), min(mean - 2.5 * deviation, 40.0)
    groups = [(group, Optical.FLASH_WHITE) for group in _groups(np.flatnonzero(level > white))]
    if black > 5:
        groups += [(group, Optical.FLASH_BLACK) for group in _groups(np.flatnonzero(level < black))]
    for (first, last), optical in groups:
        inside = level[first : last + 1]
        peak = first + int(inside.argmax() if optical is Optical.FLASH_WHITE else inside.argmin())
        if not 10 <= peak <= len(small) - 10 or any(one.first - 15 <= peak <= one.last + 14 for one in found):
            continue
        if _difference(small, first - 5, last + 5) > 15:
            share = float(level[peak]) / 255.0
            found = [*found, Found(first, last, optical, share if optical is Optical.FLASH_WHITE else 1.0 - share)]
            shots = _split(shots, last)
    return sorted(found, key=lambda one: one.first), shots


def merge_dense(found: list[Found], shots: list[Span], small: U8, rate: float) -> tuple[list[Found], list[Span]]:
    """Step 3: three or more transitions in a row become their most confident one, or none if nothing changed."""
    if len(found) < 3:
        return found, shots
    kept: list[Found] = []
    for cluster in _clusters(found, rate):
        gaps = [(b.first - a.last) / rate for a, b in pairwise(cluster)]
        if len(cluster) < 3 or min(gaps) >= 0.5:
            kept += cluster
            continue
        margin = int(0.3 * rate)
        if _difference(small, cluster[0].first - margin, min(int(15 * rate), cluster[-1].last + margin)) > 20:
            kept.append(max(cluster, key=lambda one: one.confidence))
    if len(kept) == len(found):
        return found, shots
    edges = [-1, *(edge for one in kept for edge in (one.first, one.last)), len(small)]
    return kept, [(a + 1, b - 1) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - 1 >= a + 1]


def second_look(
    found: list[Found], shots: list[Span], probability: F32, rate: float, optical: Callable[[int, int], Optical]
) -> tuple[list[Found], list[Span]]:
    """Step 4: weak runs inside long shots become transitions; the shot is split after the run's peak."""
    margin, result = int(0.5 * rate), list(found)
    for first, last in _long_shots(shots, rate):
        for a, b in runs_above(probability[first : last + 1], SECOND_LOOK):
            a, b = first + a, first + b
            if a - first >= margin and last - b >= margin:
                run = probability[a : b + 1]
                result.append(Found(a, b, optical(a, b), round(float(run.max()), 4)))
                shots = _split(shots, a + int(run.argmax()))
    return result, shots


def add_until_counted(
    detection: Detection, embeddings: Embeddings, expected: int, optical: Callable[[int, int], Optical]
) -> Detection:
    """Step 5 (D-04): if fewer than `expected` shots last a second, cut where the pictures' meaning turns most.

    embeddings: image embeddings of every max(int(0.25 rate), 4)-th frame.
    """
    rate, vectors = detection.rate, embeddings.vectors.astype(np.float64)
    effective = sum((b - a) / rate >= 1.0 for a, b in detection.shots)
    if effective >= expected or len(vectors) < 9:
        return detection
    turns = _turns(vectors)
    places = _minima(turns, embeddings.index[4 : len(vectors) - 4], rate)
    known = [(one.first + one.last) / 2 for one in detection.transitions]
    chosen: list[tuple[int, float]] = []
    for frame, similarity in sorted(places, key=lambda place: place[1]):
        free = all(abs(frame - centre) >= int(rate) for centre in known)
        apart = all(abs(frame - other) >= int(1.5 * rate) for other, _ in chosen)
        if free and apart and len(chosen) < expected - effective + 1:
            chosen.append((frame, similarity))
    found, shots, half = list(detection.transitions), list(detection.shots), int(0.3 * rate)
    for frame, similarity in chosen:
        if 1.0 - similarity >= 0.10:
            a, b = max(0, frame - half), frame + half
            found.append(Found(a, b, optical(a, b), 1.0 - similarity))
            shots = _split(shots, b)
    return Detection(tuple(sorted(found, key=lambda one: one.first)), tuple(shots), rate)


def _turns(vectors: F64) -> F64:
    """Cosine of the mean of four samples before and four from i, for i = 4 .. N - 5."""
    found = []
    for i in range(4, len(vectors) - 4):
        a, b = vectors[i - 4 : i].mean(axis=0), vectors[i : i + 4].mean(axis=0)
        found.append(float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))))
    return np.array(found)


def _minima(turns: F64, frames: np.ndarray[tuple[int], np.dtype[np.int64]], rate: float) -> list[tuple[int, float]]:
    """(frame, similarity) of strict local minima, and of low points that no minimum is near."""
    strict = [k for k in range(1, len(turns) - 1) if turns[k] < turns[k - 1] and turns[k] < turns[k + 1]]
    low = np.flatnonzero(turns < turns.mean() - 1.5 * turns.std()).tolist() if len(turns) else []
    lone = [k for k in low if all(abs(int(frames[k] - frames[j])) > 1.5 * rate for j in strict)]
    return [(int(frames[k]), float(turns[k])) for k in [*strict, *lone]]


def _groups(index: np.ndarray[tuple[int], np.dtype[np.int64]]) -> list[Span]:
    """Runs of at least two positions with gaps of at most five."""
    if not len(index):
        return []
    parts = np.split(index, np.flatnonzero(np.diff(index) > 5) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts if len(part) >= 2]


def _clusters(found: list[Found], rate: float) -> list[list[Found]]:
    clusters: list[list[Found]] = []
    for one in found:
        if clusters and (one.first - clusters[-1][-1].last) / rate < 1.5:
            clusters[-1].append(one)
        else:
            clusters.append([one])
    return clusters


def _long_shots(shots: list[Span], rate: float) -> list[Span]:
    lengths = [b - a for a, b in shots]
    if len(shots) == 1:
        return list(shots)
    if len(shots) == 2:
        short, long = sorted(lengths)
        return [shot for shot, length in zip(shots, lengths, strict=True) if long >= 2 * short > 0 and length == long]
    limit = max(2.0 * float(np.median(lengths)), 3.0 * rate)
    return [shot for shot, length in zip(shots, lengths, strict=True) if length > limit]


def _difference(small: U8, first: int, last: int) -> float:
    a, b = (small[min(max(place, 0), len(small) - 1)].astype(np.float64) for place in (first, last))
    return float(np.abs(a - b).mean())


def _split(shots: list[Span], after: int) -> list[Span]:
    """The shot that holds frame `after` ends there; the next begins with the frame behind it."""
    parts: list[Span] = []
    for a, b in shots:
        parts += [(a, after), (after + 1, b)] if a <= after < b else [(a, b)]
    return parts
