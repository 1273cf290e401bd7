"""E1: is every shot framed and moved as asked? Motion, scale, angle and depth one by one, and one stored question.

Each of the four is a choice with what experts measured of that shot. The published experts (camera poses of MonST3R, a
scale classifier, head poses) are not here: flow of the shot and the largest face stand in as numbers, and the prompt
calls them measurements that may be wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

import cv2
import numpy as np

from evaluator.experts.features import FaceTrack
from evaluator.judge.evidence_text import Fact
from evaluator.judge.types import Status
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ExpertNeed, FramesNeed
from evaluator.suites.cutcraft import labels, merge, motion, stored
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.flow import moved
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.scoring import MOTIONS, MOTIONS_WHOLE, camera_credit

FIELDS: Mapping[str, tuple[str, str]] = {
    "motion": ("camera_motion", "Which movement of the camera or the lens does this shot have?"),
    "scale": ("shot_scale", "Which scale does this shot have, by how much of a person or a scene it shows?"),
    "angle": ("angle", "From which angle or point of view is this shot taken?"),
    "depth": ("depth_of_field", "Which lens or depth of field does this shot look like?"),
}
DEFAULTS = {"motion": "", "scale": "MS", "angle": "Eye-Level", "depth": "Standard"}
"""What the reference takes an unreadable answer for (D-21): a motion for none, which is never right."""
READ = (Status.OK, Status.UNPARSED)
"""Statuses of an answer that is there, whatever it says. A judge that failed has given none, in any profile."""
CAMERA_SECONDS = 3.7
CAMERA = "motion from optical flow in place of MonST3R; faces and sharpness in place of MovieShots, saliency, 6DRepNet"
"""What every record says of its measurements."""


def options(field: str, defects: Defects) -> tuple[str, ...]:
    """What may be chosen. D-11: the reference does not offer Roll."""
    if field == "motion":
        return MOTIONS if defects.prefix_camera_labels else MOTIONS_WHOLE
    return labels.classes(field)


def wanted(scene: Scene, shot: int, field: str) -> tuple[str, ...]:
    """What counts as right. Of a zoom beside a movement either; D-11: the reference lets the zoom hide the rest."""
    camera, defects = scene.prompt.shots[shot].camera, scene.defects
    if field != "motion":
        label = camera[FIELDS[field][0]]
        return (_reference(field, label) if defects.prefix_camera_labels else labels.normalise(field, label),)
    zoom = labels.normalise("zoom", camera["optical_motion"])
    if defects.prefix_camera_labels:
        return (_reference("motion", camera["camera_motion"] if zoom == "None" else camera["optical_motion"]),)
    moving = labels.normalise("motion", camera["camera_motion"])
    if zoom == "None":
        return (moving,)
    return ("Zoom",) if moving == "Static" else ("Zoom", moving)


def _reference(field: str, label: str) -> str:
    """The reference's substring rules where it has them (D-11); for a Chinese label, the table."""
    if field not in {"motion", "scale"} or not label.isascii():
        return labels.normalise(field, label)
    return labels.camera_by_substring(field, label)


def camera_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Four questions per shot that is there."""
    spans = [(shot.index, scene.first_piece(shot.index)) for shot in scene.alignment.shots]
    return [_question(scene, shot, span, field) for shot, span in spans if span is not None for field in FIELDS]


def question_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """The stored question."""
    return [stored.bank(scene, "E1")] if "E1" in scene.prompt.stored else []


def _question(scene: Scene, shot: int, span: Span, field: str) -> Wanted:
    return stored.choice(
        scene,
        f"E1/{field}/{shot + 1}",
        FIELDS[field][1],
        options(field, scene.defects),
        lambda: scene.part("shot", span),
        facts=evidence(scene, span, field),
        told={"shot": shot + 1, "field": field, "wanted": list(wanted(scene, shot, field))},
    )


def evidence(scene: Scene, span: Span, field: str) -> Mapping[str, Fact]:
    """What was measured of a shot. D-02, D-03: the reference tells constants, and one camera for all shots."""
    if field == "motion":
        return _moving(scene, (0.0, CAMERA_SECONDS) if scene.defects.one_camera else span)
    if scene.defects.lost_summaries:
        return LOST[field]
    if field == "scale":
        return {"height of the largest face, share of the picture": _face(scene, span)}
    return {"sharpness of the middle over that of the border": _focus(scene, span)} if field == "depth" else {}


LOST: Mapping[str, Mapping[str, Fact]] = {
    "scale": {"dominant scale": "MS", "average face share": 0, "average body share": 0},
    "angle": {"average pitch, degrees": 0.0},
    "depth": {"depth score": 0.5, "largest subject share": 0.0},
}


def _moving(scene: Scene, span: Span) -> Mapping[str, Fact]:
    flow = moved(scene.media["flow"], scene.defects.nominal_rate)
    ends = np.append(flow.time[1:], flow.time[-1:])  # a pair across the cut is of neither shot
    rows = (flow.time >= span[0]) & (ends < span[1])
    if not rows.any():
        return {}
    way = np.stack([np.cos(flow.direction[rows]), np.sin(flow.direction[rows])]) * flow.magnitude[rows]
    return {
        "mean motion of the picture, pixels of 320 in an eighth of a second": float(flow.magnitude[rows].mean()),
        "mean shift of the picture to the right": float(way[0].mean()),
        "mean shift of the picture downwards": float(way[1].mean()),
    }


def _face(scene: Scene, span: Span) -> float | None:
    faces: FaceTrack = scene.media["faces"]
    time = faces.time - faces.time[0]
    heights = faces.box[(time >= span[0]) & (time < span[1])]
    tall = heights[:, 3] - heights[:, 1]
    return float(np.nanmax(tall)) if np.isfinite(tall).any() else None


def _focus(scene: Scene, span: Span) -> float | None:
    """Variance of the Laplacian in the middle half of a picture over that outside, mean over the shot's pictures."""
    frames = scene.frames
    time = frames.time - frames.time[0]
    found = [_sharpness(frames.data[row]) for row in np.flatnonzero((time >= span[0]) & (time < span[1]))]
    return fmean(found) if found else None


def _sharpness(picture: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]) -> float:
    edges = np.abs(cv2.Laplacian(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), cv2.CV_64F))
    height, width = edges.shape
    middle = np.zeros(edges.shape, bool)
    middle[height // 4 : height - height // 4, width // 4 : width - width // 4] = True
    return float(edges[middle].mean() / (edges[~middle].mean() + 1e-6))


def score(played: Played) -> Outcome:
    """Half the mean of the four fields over all shots of the script, half the stored question."""
    fields = {field: _field(played, field) for field in FIELDS}
    found = [value for value in fields.values() if value is not None]
    question = _stored(played)
    parts = fmean(found) if found else None
    value = required(merge.mean_of(parts, question), played, "No shot was judged.")
    details = {"fields": fields, "modes_found": {"B": parts, "C": question}, "items": played.items("E1/")}
    return Outcome(value, details={**details, "camera": CAMERA})


def _field(played: Played, field: str) -> float | None:
    """Mean credit over the script's shots; a missing shot counts 0, one without an answer is left out."""
    found: list[float] = []
    for shot in played.scene.alignment.shots:
        item = f"E1/{field}/{shot.index + 1}"
        if item not in played.said:
            found.append(0.0)
            continue
        answer = played.said[item]
        said = stored.picked(played.wanted[item], answer, played.scene.defects)
        if said is None and played.scene.defects.failure_is_half and answer.status in READ:
            said = DEFAULTS[field]
        if said is not None:
            found.append(max(camera_credit(field, one, said) for one in wanted(played.scene, shot.index, field)))
    return fmean(found) if found else None


def _stored(played: Played) -> float | None:
    if "E1" not in played.scene.prompt.stored:
        return None
    wanted_question, question = played.wanted["E1/question"], played.scene.prompt.question("E1")
    return stored.bank_score(question, wanted_question, played.said["E1/question"], played.scene.defects)


DIMENSION = Dimension(
    "E1",
    "Camera",
    "Motion, scale, angle and depth of every shot, judged one by one, and a stored question about one shot.",
    score,
    (camera_stage, question_stage),
    (stored.ONE_TOKEN, stored.TEXT),
    needs=lambda defects: {"flow": FramesNeed(motion.VIEW), "faces": ExpertNeed("faces")},
    version=3,
)


def metric(defects: Defects) -> Metric:
    """E1 of one profile."""
    return card(DIMENSION, defects)
