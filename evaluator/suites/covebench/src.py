"""SRC, static region consistency (CoVEBench 5.3): do the things that should have stayed look the same?

Each thing that the task wants kept is looked for by a short phrase, in source and edit; what is found is followed, cut
out of both clips, and compared by DINOv2: (cosine + 1) / 2 per frame, 0 where the edit shows nothing of it, mean over
frames. Three reference models do this (Grounding DINO, SAM 2, DINOv2 ViT-S/14); nothing that is embedded finds a thing
by a phrase, so without them the metric is `unavailable`, and no stand-in pretends to be it.

The phrases are made by a language model from the task's own texts, once for all systems; the benchmark publishes them,
and a case carries them in `data.entities`. A task about camera or style is left out, as the whole picture changes: by
its categories, else by its instruction, which a judge sorts into such tasks and others (one word, no picture). Where no
judge is given only the categories decide, and `skip_rule` in the details says so; a judge that is given and does not
answer leaves no score.

    paper    pictures are the frames that the masks were made for; an object begins where it was found
    compat   pictures a whole number of frames apart, and every object begins on frame 0, as the reference has it; the
             JPEG files (FFmpeg's quality 2) through which its detector and tracker see the clip are not made
    strict   an edit in which nothing is found scores 0, where the others leave the task out
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.features import RegionSimilarity
from evaluator.experts.regions import Option, phrases_option
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need

WHOLE_PICTURE = frozenset({"camera", "style"})
"""Level 1 categories, lower case, of tasks that are left out."""

PROMPT = "cove_whole_picture"

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


def ask(case: Case, similarity: RegionSimilarity | None = None) -> list[Question]:
    """Whether the instruction is about the whole picture; nothing where there is none, or nothing to compare."""
    if similarity is None or not case.prompt.strip():
        return []
    return [load(PROMPT).ask(f"{case.id}/src/whole_picture", [], {"instruction": case.prompt})]


def compute(
    case: Case,
    similarity: RegionSimilarity | None = None,
    answers: Sequence[Answer] | None = None,
    nothing_found: float | None = None,
) -> Outcome:
    """Mean similarity, 0..1. `nothing_found` is the score of an edit in which nothing is found; None leaves it out.

    `answers` are None without a judge. Raises NotApplicable where there is nothing to compare, and what `accepted`
    raises for an answer that is none.
    """
    if similarity is None:
        raise _why_nothing(case)
    details = {**_details(similarity), "skip_rule": skip_rule(answers)}
    if not similarity.kept[0] or not len(similarity.cosine):
        raise NotApplicable("not_applicable", "Nothing that should stay is found in the source.")
    if not similarity.kept[1]:
        if nothing_found is None:
            raise NotApplicable("not_applicable", "Nothing that should stay is found in the edit.")
        return Outcome(nothing_found, details=details)
    return Outcome(float(similarities(similarity).mean()), details=details)


def skip_rule(answers: Sequence[Answer] | None) -> Mapping[str, Any]:
    """Who decided that the task is not about the whole picture. Raises NotApplicable if the judge says that it is."""
    if not answers:
        return {"by": "categories", "why": "no judge was given" if answers is None else "the case has no instruction"}
    answer = accepted(answers[0])
    if answer.label == "Yes":
        sure = f"P = {answer.probabilities['Yes']:.3f}, call {answer.key}"
        message = f"The judge reads a change of camera or style in the instruction ({sure}): no region is to stay."
        raise NotApplicable("filtered", message)
    return {"by": "categories and judge", **provenance(answer)}


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


def _profile(options: tuple[Option, ...] = (), nothing_found: float | None = None) -> Metric:
    """The metric of one profile; without a judge, only the categories of a task leave it out."""
    bare = Metric(
        id="src",
        version=3,
        title="SRC",
        summary="Likeness of the things that should stay, cut out of source and edit.",
        direction=Direction.HIGHER,
        range=(0.0, 1.0),
        unit="",
        paper="CoVEBench 5.3",
        needs={},
        needs_of=needs_with(options),
        compute=partial(compute, nothing_found=nothing_found),
        reads=("data", "prompt"),
    )
    return replace(bare, judged=Judged(ask, reads=("prompt",), prompts=(PROMPT,)), unjudged=bare)


METRIC = _profile()
COMPAT = _profile(REFERENCE_FRAMES)
STRICT = _profile(nothing_found=0.0)
