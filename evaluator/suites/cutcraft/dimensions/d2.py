"""D2: hard cut, dissolve, wipe, flash to white or to black? Measured at every transition of the script."""

from __future__ import annotations

from statistics import fmean

from evaluator.metrics.base import Metric, Outcome
from evaluator.suites.cutcraft.cut_scores import match_transitions, optical_credit, wanted_optical
from evaluator.suites.cutcraft.dimensions.card import Dimension
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.modes import Played


def score(played: Played) -> Outcome:
    """Mean credit over the transitions of the script; one whose shot is missing, or that is not found, counts 0."""
    scene = played.scene
    cuts, wanted = scene.cuts, [wanted_optical(cut.optical, scene.defects) for cut in scene.prompt.cuts]
    found = match_transitions(cuts, scene.edit.candidates(scene.defects), scene.defects)
    found_credits = [
        0.0 if cut is None else optical_credit(asked, one) for cut, asked, one in zip(cuts, wanted, found, strict=True)
    ]
    items = [
        {
            "transition": place + 1,
            "label": scene.prompt.cuts[place].optical,
            "wanted": str(wanted[place]),
            "cut": cuts[place],
            "found": str(one.optical) if one else None,
            "found_at": one.time if one else None,
            "credit": found_credits[place],
        }
        for place, one in enumerate(found)
    ]
    return Outcome(fmean(found_credits), details={"transitions": items})


DIMENSION = Dimension(
    "D2",
    "Optical transition",
    "Whether pictures change as asked: hard cut, dissolve, wipe, flash to white or to black.",
    score,
    version=2,
)


def metric(defects: Defects) -> Metric:
    """D2 of one profile."""
    return card(DIMENSION, defects)
