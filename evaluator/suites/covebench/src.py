"""SRC, static region consistency (CoVEBench 5.3): do the things that should have stayed look the same?

Each thing that the task wants kept is looked for by a short phrase, in source and edit; what is found is followed, cut
out of both clips, and compared by DINOv2: (cosine + 1) / 2 per frame, 0 where the edit shows nothing of it, mean over
frames. Three reference models do this (Grounding DINO, SAM 2, DINOv2 ViT-S/14); nothing that is embedded finds a thing
by a phrase, so without them the metric is `unavailable`, and no stand-in pretends to be it.

The phrases are made by a language model from the task's own texts, once for all systems; the benchmark publishes them,
and a case carries them in `data.entities`. A task about camera or style is left out, as the whole picture changes.

    paper    pictures are the frames that the masks were made for; an object begins where it was found
    compat   pictures a whole number of frames apart, and every object begins on frame 0, as the reference has it
    strict   an edit in which nothing is found scores 0, where the others leave the task out
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import RegionSimilarity
from evaluator.experts.regions import Option, phrases_option
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need

WHOLE_PICTURE = frozenset({"camera", "style"})
"""Level 1 categories, lower case, of tasks that are left out."""

REFERENCE_FRAMES: tuple[Option, ...] = (("box_frame", "first"), ("pictures", "stride"))


def whole_picture(case: Case) -> str:
    """The Level 1 category for which a task is left out; empty if it is not."""
    levels = [entry[0] for entry in case.data.get("categories") or () if entry]
    return next((level for level in levels if level.strip().lower() in WHOLE_PICTURE), "")


def needs_with(options: tuple[Option, ...]) -> Callable[[Case], Mapping[str, Need]]:
    """What the metric needs of a case: nothing if there is nothing to look for."""

    def needs_of(case: Case) -> Mapping[str, Need]:
        phrases = case.data.get("entities")
        if not phrases or whole_picture(case):
            return {}
        sorted_options = tuple(sorted([phrases_option(phrases), *options]))
        return {"similarity": ExpertNeed("region_similarity", ("source", "video"), options=sorted_options)}

    return needs_of


def compute(case: Case, similarity: RegionSimilarity | None = None, nothing_found: float | None = None) -> Outcome:
    """Mean similarity, 0..1. `nothing_found` is the score of an edit in which nothing is found; None leaves it out.

    Raises NotApplicable where there is nothing to compare.
    """
    if similarity is None:
        raise _why_nothing(case)
    details = _details(similarity)
    if not similarity.kept[0] or not len(similarity.cosine):
        raise NotApplicable("not_applicable", "Nothing that should stay is found in the source.")
    if not similarity.kept[1]:
        if nothing_found is None:
            raise NotApplicable("not_applicable", "Nothing that should stay is found in the edit.")
        return Outcome(nothing_found, details=details)
    return Outcome(float(similarities(similarity).mean()), details=details)


def similarities(similarity: RegionSimilarity) -> np.ndarray[Any, np.dtype[np.float64]]:
    """[F] 0..1 per frame, 0 where the edit shows nothing."""
    values = np.clip((similarity.cosine.astype(np.float64) + 1.0) / 2.0, 0.0, 1.0)
    return np.where(similarity.missing, 0.0, values)


def _details(similarity: RegionSimilarity) -> Mapping[str, Any]:
    used = len(similarity.cosine)
    return {
        "used_frames": used,
        "compared_frames": similarity.compared,
        "missing_in_target": int(similarity.missing.sum()),
        "missing_rate": float(similarity.missing.mean()) if used else None,
        "kept": {"source": list(similarity.kept[0]), "output": list(similarity.kept[1])},
        "per_frame": similarities(similarity).tolist(),
    }


def _why_nothing(case: Case) -> NotApplicable:
    if level := whole_picture(case):
        return NotApplicable("filtered", f"The task is about {level}: no region is meant to stay as it was.")
    if case.data.get("entities") is None:
        message = (
            "no grounding phrases (data.entities); `evaluator manifest covebench` takes them with --set entities=DIR"
        )
        return NotApplicable("unavailable", message)
    return NotApplicable("not_applicable", "The task names nothing that stays and can be pointed at.")


METRIC = Metric(
    id="src",
    version=1,
    title="SRC",
    summary="Likeness of the things that should stay, cut out of source and edit.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="CoVEBench 5.3",
    needs={},
    needs_of=needs_with(()),
    compute=compute,
    reads=("data",),
)

COMPAT = replace(METRIC, needs_of=needs_with(REFERENCE_FRAMES))
STRICT = replace(METRIC, compute=partial(compute, nothing_found=0.0))
