"""What the pictures alone say about the edit: segments and changes, by one of two ways.

    paper    TransNetV2 as its authors run it, flashes and wipes by what they are; knows nothing of the script
    compat   the reference's post-processing, which adds cuts until the script's number of shots is reached (D-04)

Segments are (start, end) in seconds on the clip's own clock, the first frame being 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from evaluator.experts.features import Embeddings, ShotScores
from evaluator.media.types import Frames
from evaluator.schema import Case, ExpertNeed, FramesNeed, Need, Sampling
from evaluator.suites.cutcraft import reference_shots, transitions
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.cut_scores import Candidate
from evaluator.suites.cutcraft.data import STORED_FRAMES
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.labels import Optical
from evaluator.suites.cutcraft.looks import PICTURES, looks
from evaluator.suites.cutcraft.memo import remembered
from evaluator.suites.cutcraft.rates import named
from evaluator.suites.cutcraft.reference_optical import optical_class
from evaluator.suites.cutcraft.reference_shots import Detection, Found, add_until_counted

COMPAT_CLIP = "CLIP ViT-B/32"
"""What the reference looks for added cuts with; any image embedding stands in for it."""


@dataclass(frozen=True, slots=True)
class Change:
    """One transition that was found."""

    start: float  # seconds
    end: float
    cut: float  # seconds at which the next shot takes over
    optical: Optical
    confidence: float


@dataclass(frozen=True, slots=True)
class Edit:
    """All of it."""

    segments: tuple[Span, ...]
    changes: tuple[Change, ...]
    duration: float
    cut_is_old: bool = False
    """Whether a segment ends with the time stamp of its last frame, as in the reference, and not with that of the next
    segment's first one: whose a frame is that has the very time of a cut."""

    def candidates(self, defects: Defects) -> list[Candidate]:
        """What D2 looks up at the cuts of the script: by their cut, or as the reference does by their start."""
        return [Candidate(one.start if defects.first_transition else one.cut, one.optical) for one in self.changes]


def needs(defects: Defects) -> Mapping[str, Need]:
    """What `found` takes beside the case. D-07: the reference lays the network's windows side by side."""
    pictures: Mapping[str, Need] = (
        reference_shots.PICTURES if defects.frame_difference_optics else {"pictures": FramesNeed(PICTURES)}
    )
    options = (("windows", "disjoint"),) if defects.disjoint_windows else ()
    return {**pictures, "scores": ExpertNeed("shot_boundaries", options=options)}


def case_needs(defects: Defects, case: Case) -> Mapping[str, Need]:
    """What depends on the clip's frame rate: pictures by whose meaning the reference adds cuts."""
    if not defects.shot_count_leaks:
        return {}
    every = int(case.data.get("embed_every", STORED_FRAMES))
    return {"semantic": ExpertNeed("image_embedding", sampling=Sampling("every", (every,)))}


def found(defects: Defects, asked: int, media: Mapping[str, Any]) -> Edit:
    """The edit of a clip. `asked` is the script's number of shots, which only D-04 looks at."""
    semantic, plateaus = media.get("semantic"), defects.plateau_is_a_shot
    leak = asked if defects.shot_count_leaks else 0
    if not defects.frame_difference_optics:
        return _measured(media["pictures"], media["scores"], semantic, leak, plateaus)
    return _as_the_reference(media["gray"], media["small"], media["scores"], semantic, leak, plateaus)


@remembered(3)
def _measured(pictures: Frames, scores: ShotScores, semantic: Embeddings | None, asked: int, plateaus: bool) -> Edit:
    start, end = float(pictures.time[0]), _end(pictures)
    changes = transitions.transitions(pictures, scores)
    if asked and semantic is not None:
        changes = _until_counted(changes, pictures, named(scores.rate), semantic, asked)
    segments = transitions.shots(changes, pictures.time, end, plateaus)
    return Edit(
        segments=tuple((a - start, b - start) for a, b in segments),
        changes=tuple(
            Change(one.start - start, one.end - start, one.cut - start, one.optical, one.confidence) for one in changes
        ),
        duration=end - start,
    )


def _until_counted(
    changes: tuple[transitions.Transition, ...], pictures: Frames, rate: float, semantic: Embeddings, asked: int
) -> tuple[transitions.Transition, ...]:
    """D-04 alone: the reference's added cuts among transitions that were measured."""
    figures, last = looks(pictures), len(pictures.time) - 1

    def change(first: int, end: int, confidence: float = 0.0) -> transitions.Transition:
        return transitions.cut_or_dissolve(figures, first, min(end, last), confidence)

    known = tuple(Found(one.first, one.last, one.optical, one.confidence) for one in changes)
    edges = [-1, *((one.first + one.last) // 2 for one in changes), last]
    spans = tuple((a + 1, b) for a, b in pairwise(edges) if b > a)
    counted = add_until_counted(Detection(known, spans, rate), semantic, asked, lambda a, b: change(a, b).optical)
    added = [change(one.first, one.last, one.confidence) for one in counted.transitions if one not in known]
    return tuple(sorted((*changes, *added), key=lambda one: one.cut))


@remembered(3)
def _as_the_reference(
    gray: Frames, small: Frames, scores: ShotScores, semantic: Embeddings | None, asked: int, plateaus: bool
) -> Edit:
    detection = reference_shots.detect(gray, small, scores, plateaus)
    rate = detection.rate
    if asked and semantic is not None:

        def optical(first: int, last: int) -> Optical:
            return optical_class(gray.data[..., 0], first, last, rate)

        detection = add_until_counted(detection, semantic, asked, optical)
    changes = [
        Change(detection.start(one), one.last / rate, (one.first + one.last) / 2 / rate, one.optical, one.confidence)
        for one in detection.transitions
    ]
    segments = tuple((round(a / rate, 3), round(b / rate, 3)) for a, b in detection.shots)
    return Edit(segments, tuple(changes), len(scores.probability) / rate, cut_is_old=True)


def _end(pictures: Frames) -> float:
    """Seconds at which the last frame goes."""
    time = pictures.time
    step = float(time[-1] - time[0]) / (len(time) - 1) if len(time) > 1 else 0.0
    return float(time[-1]) + step
