"""A1: does the clip have as many shots as the script? Counted from pictures alone."""

from __future__ import annotations

from functools import partial
from typing import Any

from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import Case
from evaluator.suites.cutcraft import shots
from evaluator.suites.cutcraft.alignment import shot_count_score
from evaluator.suites.cutcraft.data import prompt_of
from evaluator.suites.cutcraft.dimensions.card import READS, signal_metric
from evaluator.suites.cutcraft.flags import Defects


def compute(defects: Defects, case: Case, **media: Any) -> Outcome:
    """1 less the relative error of the count; `raw` is the count. D-04: the reference adds cuts until it is right."""
    asked = prompt_of(case).number_of_shots
    edit = shots.found(defects, asked, media)
    details = {
        "asked": asked,
        "found": len(edit.segments),
        "transitions": [{"cut": one.cut, "optical": str(one.optical)} for one in edit.changes],
    }
    return Outcome(shot_count_score(len(edit.segments), asked), float(len(edit.segments)), details)


def metric(defects: Defects) -> Metric:
    """A1 of one profile."""
    return signal_metric(
        "A1",
        "Shot count",
        "How close the number of shots is to the number asked for.",
        partial(compute, defects),
        shots.needs(defects),
        stands_in_for={"image_embedding": shots.COMPAT_CLIP} if defects.shot_count_leaks else {},
        reads=READS,
        needs_of=partial(shots.case_needs, defects),
        version=2,
    )
