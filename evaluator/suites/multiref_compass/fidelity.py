"""The arithmetic of EF (section 3.4): cues of persons, best views, one person per entity, coverage.

Arrays in, numbers out. Negative cosines are nothing; an entity that is never found has fidelity 0 and coverage 0. What
this does not know is who somebody was meant to be: two persons who changed places are matched to whom they look like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from evaluator.experts.features import Crops, EntityCues
from evaluator.media.types import F32, F64
from evaluator.suites.multiref_compass.choices import OBJECT_FOUND

HUMAN, SCENE = "human", "scene"


@dataclass(frozen=True, slots=True)
class Views:
    """What the reference pictures of one entity look like: rows over all its views."""

    kind: str
    whole: F32  # [V, D]
    faces: F32  # [F, D], possibly none
    bodies: F32  # [B, D], at least one of each view


@dataclass(frozen=True, slots=True)
class Fidelity:
    """One entity: mean cue over the frames in which it was found, and how many those are."""

    value: float  # 0..1
    counted: int
    frames: int
    cue: str  # "face+body", "body", "object" or "scene": what was compared, at its best

    @property
    def coverage(self) -> float:
        """Share of the frames in which the entity was found."""
        return self.counted / self.frames if self.frames else 0.0


def views_of(kind: str, pictures: Sequence[EntityCues]) -> Views:
    """The views of an entity from the cues of its reference pictures.

    A picture in which no person is found (a view from behind, say) is a view of the body as a whole, so that the most
    similar view is looked for among all of them.
    """
    return Views(
        kind,
        np.concatenate([one.whole for one in pictures]),
        _rows([one.faces for one in pictures]),
        np.concatenate([one.bodies.vectors if len(one.bodies.vectors) else one.whole for one in pictures]),
    )


def _rows(crops: Sequence[Crops]) -> F32:
    found = [one.vectors for one in crops if len(one.vectors)]
    return np.concatenate(found) if found else np.zeros((0, 1), np.float32)


def fidelity(entities: Sequence[Views], output: EntityCues, use_faces: bool) -> list[Fidelity]:
    """Fidelity of every entity, in order."""
    frames = len(output.whole)
    seen: list[list[float]] = [[] for _ in entities]
    humans = [place for place, entity in enumerate(entities) if entity.kind == HUMAN]
    for frame in range(frames):
        for place, entity in enumerate(entities):
            if entity.kind != HUMAN and (cue := _thing(entity, output, frame)) is not None:
                seen[place].append(cue)
        for place, cue in _people([entities[place] for place in humans], output, frame, use_faces).items():
            seen[humans[place]].append(cue)
    return [
        Fidelity(float(np.mean(cues)) if cues else 0.0, len(cues), frames, _cue(entity, use_faces))
        for entity, cues in zip(entities, seen, strict=True)
    ]


def _cue(entity: Views, use_faces: bool) -> str:
    if entity.kind != HUMAN:
        return "scene" if entity.kind == SCENE else "object"
    return "face+body" if use_faces and len(entity.faces) else "body"


def _thing(entity: Views, output: EntityCues, frame: int) -> float | None:
    """Best cosine of the entity's views with the frame (scene) or with any region of it; None if it is not found."""
    if entity.kind == SCENE:
        return positive(output.whole[frame : frame + 1], entity.whole)
    regions = output.regions.vectors[output.regions.row == frame]
    offered = regions if output.detected else np.concatenate([regions, output.whole[frame : frame + 1]])
    if not len(offered):
        return None
    cue = positive(offered, entity.whole)
    return cue if output.detected or cue >= OBJECT_FOUND else None


def positive(one: F32, other: F32) -> float:
    """Largest cosine of any row with any row, at least 0."""
    return float(np.clip((one.astype(np.float64) @ other.astype(np.float64).T).max(), 0.0, 1.0))


def _people(entities: Sequence[Views], output: EntityCues, frame: int, use_faces: bool) -> Mapping[int, float]:
    """Place of an entity -> its cue in a frame, each person serving one entity only (Hungarian, on 1 - cue)."""
    persons = np.flatnonzero(output.faces.row == frame)
    if not len(persons) or not entities:
        return {}
    cues: F64 = np.array([[_person(entity, output, person, use_faces) for person in persons] for entity in entities])
    rows, columns = linear_sum_assignment(1.0 - np.nan_to_num(cues, nan=-1.0))
    return {
        int(row): float(cues[row, column])
        for row, column in zip(rows, columns, strict=True)
        if np.isfinite(cues[row, column])
    }


def _person(entity: Views, output: EntityCues, person: int, use_faces: bool) -> float:
    """0.5 face + 0.5 body, or the one that both sides have; NaN for neither."""
    cues = []
    if use_faces and len(entity.faces):
        cues.append(positive(output.faces.vectors[person : person + 1], entity.faces))
    if len(output.bodies.vectors):
        cues.append(positive(output.bodies.vectors[person : person + 1], entity.bodies))
    return float(np.mean(cues)) if cues else float("nan")
