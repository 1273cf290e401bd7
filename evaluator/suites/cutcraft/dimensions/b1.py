"""B1: does every shot last as long as the script says? Missing shots are left out."""

from __future__ import annotations

from evaluator.metrics.base import Metric, Outcome
from evaluator.suites.cutcraft.alignment import AlignedShot, Span, duration_score
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.modes import Played
from evaluator.suites.cutcraft.scene import Scene


def score(played: Played) -> Outcome:
    """1 less the mean relative error of the lengths; `compat` has 0 if no shot is there (D-21)."""
    scene = played.scene
    spans = script_spans(scene)
    found = duration_score(scene.alignment, spans, scene.defects)
    if found is None and scene.defects.failure_is_half:
        found = 0.0
    value = required(found, played, "No shot of the script was found in the clip.")
    shots = [_shot(scene, one, spans[one.index]) for one in scene.alignment.shots]
    return Outcome(value, details={"lengths": shots})


def script_spans(scene: Scene) -> tuple[Span, ...]:
    """Time ranges of the script by shot.

    D-25: the reference looks shots up by place in a list from which ranges without length were removed, so that later
    shots are measured with the length of their neighbour.
    """
    spans = scene.prompt.spans
    if not scene.defects.shifted_durations:
        return spans
    valid = [span for span in spans if span[1] > span[0]]
    return (*valid, *((0.0, 0.0),) * (len(spans) - len(valid)))


def _shot(scene: Scene, one: AlignedShot, wanted: Span) -> dict[str, float | int | None]:
    whole = one.span[1] - one.span[0] if one.span else None
    found = whole if scene.defects.merged_spans or one.span is None else one.length
    return {"shot": one.index + 1, "asked": wanted[1] - wanted[0], "found": found}


DIMENSION = Dimension(
    "B1",
    "Shot duration",
    "How close the lengths of the shots are to those asked for.",
    score,
    version=2,
)


def metric(defects: Defects) -> Metric:
    """B1 of one profile."""
    return card(DIMENSION, defects)
