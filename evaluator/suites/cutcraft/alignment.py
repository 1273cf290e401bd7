"""Which detected segment is which prompt shot (CutCraft spec 5): labels in, aligned shots out; A1 and B1 on top.

A judge labels the segments; here its labels are validated and corrected, or replaced by the times that it saw, or by
the order of the segments when there is no judge. `compat` keeps two defects of the reference: the last shot that is
there moves up to fill a gap (D-19), and a shot of separate segments spans what lies between them (D-23).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from evaluator.metrics.arithmetic import clip01
from evaluator.suites.cutcraft.flags import Defects

Span = tuple[float, float]
"""(start, end) in seconds."""

DISCARDED = -1
TOLERANCE = 0.5  # seconds by which a segment's middle may miss the times that the judge gave
ROUNDS = 5  # most corrections of shots that own segments with another's in between
LITTLE, MUCH = 0.10, 0.50  # shares of a segment: hardly in its shot's prompt range, mostly in that of a missing one


@dataclass(frozen=True, slots=True)
class AlignedShot:
    """One prompt shot and where it was found."""

    index: int  # of the prompt shot, from 0
    status: Literal["matched", "merged", "missing"]
    segments: tuple[int, ...]
    span: Span | None  # first start to last end; None if missing
    pieces: tuple[Span, ...]  # its segments; the times that a judge gave for a shot that has none

    @property
    def places(self) -> tuple[Span, ...]:
        """Where it is: segments that follow one another are one place."""
        found: list[Span] = []
        for k, piece in enumerate(self.pieces):
            follows = k > 0 and self.segments[k] == self.segments[k - 1] + 1
            found = [*found[:-1], (found[-1][0], piece[1])] if follows else [*found, piece]
        return tuple(found)

    @property
    def length(self) -> float:
        """Seconds of its own segments, without what lies between them."""
        return sum(end - start for start, end in self.pieces)


@dataclass(frozen=True, slots=True)
class Timed:
    """When a judge saw a shot of the script."""

    shot: int  # from 0
    start: float  # seconds
    end: float
    merged: bool  # together with another one, without a cut between them


@dataclass(frozen=True, slots=True)
class Alignment:
    """All prompt shots of a clip, and how they were found."""

    shots: tuple[AlignedShot, ...]
    labels: tuple[int, ...]
    discarded: tuple[int, ...]
    method: Literal["judge", "order"]

    @property
    def accuracy(self) -> float:
        """Share of prompt shots that are there."""
        return sum(shot.span is not None for shot in self.shots) / len(self.shots)

    def evaluable(self, transition: int) -> bool:
        """Whether both shots of transition i (between prompt shots i and i + 1) are there."""
        return self.shots[transition].span is not None and self.shots[transition + 1].span is not None

    def cut(self, transition: int) -> float | None:
        """Seconds at which transition i happens: the end of shot i; None if it is not evaluable."""
        span = self.shots[transition].span
        return span[1] if span is not None and self.evaluable(transition) else None


def by_order(segments: Sequence[Span], prompts: Sequence[Span]) -> Alignment:
    """Segment i is prompt shot i; what is left over is discarded."""
    labels = [index if index < len(prompts) else DISCARDED for index in range(len(segments))]
    return _aligned(labels, segments, len(prompts), "order")


def by_labels(given: Sequence[Any], segments: Sequence[Span], prompts: Sequence[Span], defects: Defects) -> Alignment:
    """From a judge's label per segment: validated, then the three corrections of spec 5.

    segments: of the clip, by start. prompts: the prompt's time ranges.
    """
    labels = valid_labels(given, len(segments), len(prompts))
    labels = split_outliers(labels, segments, prompts)
    if defects.last_shot_moves_up:
        labels = close_gap(labels)
    labels = move_by_time(labels, segments, prompts)
    return _aligned(labels, segments, len(prompts), "judge")


def by_times(given: Sequence[Timed], segments: Sequence[Span], shots: int) -> Alignment:
    """From a judge's times of each shot, the second way of spec 5, without corrections.

    A shot has the segments, not yet used, whose middles are in its times, give or take TOLERANCE; if there are none,
    the times themselves. One that has no times inside the clip is missing; of a shot given twice the first counts.
    """
    labels = [DISCARDED] * len(segments)
    found: dict[int, AlignedShot] = {}
    for one in given:
        if one.shot in found or not 0 <= one.shot < shots:
            continue
        for place, (a, b) in enumerate(segments):
            if labels[place] == DISCARDED and one.start - TOLERANCE <= (a + b) / 2 <= one.end + TOLERANCE:
                labels[place] = one.shot
        span = (one.start, min(one.end, segments[-1][1]))
        if one.shot in labels:
            found[one.shot] = _shot(one.shot, labels, segments)
        elif span[1] > span[0]:
            found[one.shot] = AlignedShot(one.shot, "merged" if one.merged else "matched", (), span, (span,))
    bare = _aligned(labels, segments, shots, "judge")
    return replace(bare, shots=tuple(found.get(shot.index, shot) for shot in bare.shots))


def valid_labels(given: Sequence[Any], segments: int, shots: int) -> list[int]:
    """One label per segment; what is no whole number of a prompt shot is DISCARDED."""
    labels = [
        label if isinstance(label, int) and not isinstance(label, bool) and 0 <= label < shots else DISCARDED
        for label in given[:segments]
    ]
    return labels + [DISCARDED] * (segments - len(labels))


def split_outliers(labels: Sequence[int], segments: Sequence[Span], prompts: Sequence[Span]) -> list[int]:
    """Correction 1: of a shot with another's segment in between, the later part becomes the nearest missing shot."""
    labels = list(labels)
    for _ in range(ROUNDS):
        missing = [shot for shot in range(len(prompts)) if shot not in labels]
        outliers = next((found for shot in sorted(set(labels)) if (found := _later_part(labels, shot))), [])
        if not missing or not outliers:
            break
        start = segments[outliers[0]][0]
        nearest = min(missing, key=lambda shot: abs(sum(prompts[shot]) / 2 - start))
        for place in outliers:
            labels[place] = nearest
    return labels


def close_gap(labels: Sequence[int]) -> list[int]:
    """Correction 2 (D-19): if the last used shot ends the list and shots before it are unused, it is one of them."""
    used = {label for label in labels if label != DISCARDED}
    if not used:
        return list(labels)
    last = max(used)
    free = [shot for shot in range(last) if shot not in used]
    tail = len(labels) - labels.count(last)
    if not free or any(label != last for label in labels[tail:]):
        return list(labels)
    return [free[-1] if label == last else label for label in labels]


def move_by_time(labels: Sequence[int], segments: Sequence[Span], prompts: Sequence[Span]) -> list[int]:
    """Correction 3: a segment outside its shot's prompt range moves to the missing shot that covers most of it."""
    labels = list(labels)
    for place, segment in enumerate(segments):
        missing = [shot for shot in range(len(prompts)) if shot not in labels]
        label = labels[place]
        if not missing or label == DISCARDED or _share(segment, prompts[label]) >= LITTLE:
            continue
        covering = [shot for shot in missing if _share(segment, prompts[shot]) > MUCH]
        if covering:
            labels[place] = covering[0]
    return labels


def shot_count_score(found: int, asked: int) -> float:
    """A1 of spec 7."""
    return clip01(1.0 - abs(found - asked) / max(asked, 1))


def duration_score(alignment: Alignment, prompts: Sequence[Span], defects: Defects) -> float | None:
    """B1 of spec 7: 1 less the mean relative error of the lengths of the shots that are there; None if none is.

    Prompt ranges of no length are left out. D-23: the reference counts what lies between a shot's segments as the shot.
    """
    errors = []
    for shot in alignment.shots:
        wanted = prompts[shot.index][1] - prompts[shot.index][0]
        if shot.span is not None and wanted > 0.0:
            length = shot.span[1] - shot.span[0] if defects.merged_spans else shot.length
            errors.append(abs(length - wanted) / wanted)
    return clip01(1.0 - sum(errors) / len(errors)) if errors else None


def _later_part(labels: Sequence[int], shot: int) -> list[int]:
    """Positions of a shot after another shot's segment came between; empty if it is in one piece."""
    own = [place for place, label in enumerate(labels) if label == shot]
    if shot == DISCARDED:
        return []
    for here, there in pairwise(own):
        if any(labels[place] != DISCARDED for place in range(here + 1, there)):
            return [place for place in own if place >= there]
    return []


def _share(segment: Span, prompt: Span) -> float:
    """Share of a segment inside a prompt range."""
    length = segment[1] - segment[0]
    inside = min(segment[1], prompt[1]) - max(segment[0], prompt[0])
    return max(0.0, inside) / length if length > 0.0 else 0.0


def _aligned(
    labels: Sequence[int], segments: Sequence[Span], shots: int, method: Literal["judge", "order"]
) -> Alignment:
    found = tuple(_shot(index, labels, segments) for index in range(shots))
    discarded = tuple(place for place, label in enumerate(labels) if label == DISCARDED)
    return Alignment(found, tuple(labels), discarded, method)


def _shot(index: int, labels: Sequence[int], segments: Sequence[Span]) -> AlignedShot:
    own = tuple(place for place, label in enumerate(labels) if label == index)
    pieces = tuple(segments[place] for place in own)
    if not own:
        return AlignedShot(index, "missing", (), None, ())
    return AlignedShot(index, "matched" if len(own) == 1 else "merged", own, (pieces[0][0], pieces[-1][1]), pieces)
