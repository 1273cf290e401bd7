"""Direct comparison (section 3): the judge sees the same two outputs in both orders and names the better one.

A pairwise case is a case whose one reference has the role `rival`: another system's output for the same instance. A
pair whose two verdicts name different systems, or that is a tie in either order, is excluded: skipped as `filtered`,
with the reason counted, and never half a win.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Part, Question
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, Need
from evaluator.suites.avenue import items, matching
from evaluator.suites.avenue.data import AUDIO, VIDEO, of
from evaluator.suites.avenue.grading import READS, Items, context, pictures, sounds
from evaluator.suites.avenue.items import Item

PROMPT = "avenue_pairwise"
RIVAL = "reference:0"
FIRST, SECOND, TIE = "A", "B", "C"

_ASPECTS = {
    "edit_accuracy": "Edit accuracy: which clip makes the listed changes and leaves the listed elements intact?",
    "modality_selectivity": "Selectivity: which clip leaves unchanged what had to stay, compared with the source?",
    "perceptual_quality": "Technical quality alone, whatever was asked for.",
    "av_consistency": "Whether picture and sound belong together and both show the change.",
}
_TOLD = {
    "edit_accuracy": ("instruction", "changed", "preserved"),
    "modality_selectivity": ("instruction", "preserved"),
    "perceptual_quality": (),
    "av_consistency": ("instruction", "changed"),
}
"""Data blocks beside the aspect: what the prompt of the same dimension tells about one clip alone."""


def is_pair(case: Case) -> bool:
    """Whether a case compares two outputs."""
    return any(item.role == "rival" for item in case.references)


def rival_of(case: Case) -> str:
    """The other system."""
    return case.references[0].entity


def needs_of(dimension: Items) -> Callable[[Case], Mapping[str, Need]]:
    """What the items of the dimension show, of the output, the rival and the source."""

    def needs(case: Case) -> Mapping[str, Need]:
        found = dimension(of(case))
        modalities = {modality for item in found for modality in item.modalities}
        roles = {"output": "video", "rival": RIVAL}
        if any(item.compared for item in found):
            roles["source"] = "source"
        frames = {f"{name}_frames": matching.frames_need(case, role) for name, role in roles.items()}
        sound = {f"{name}_sound": matching.sound_need(role) for name, role in roles.items()}
        return {**(frames if VIDEO in modalities else {}), **(sound if AUDIO in modalities else {})}

    return needs


def ask_of(name: str, dimension: Items) -> Callable[..., Sequence[Question]]:
    """Two questions, the second with the clips swapped."""

    def ask(case: Case, **media: Any) -> Sequence[Question]:
        form = load(PROMPT)
        modalities = dict.fromkeys(one for item in dimension(of(case)) for one in item.modalities)
        told = context(case, Item(name, _ASPECTS[name], tuple(modalities)), (*_TOLD[name], "question"))
        orders = (("output", "rival"), ("rival", "output"))
        return [
            form.ask(f"{case.id}/pairwise_{name}/{first}_first", _shown(first, second, case, media), told)
            for first, second in orders
        ]

    return ask


def _shown(first: str, second: str, case: Case, media: Mapping[str, Any]) -> list[Part]:
    names = {first: "first", second: "second", "source": "source"}
    order = ("source", first, second)
    seen = [clip for clip in order if media.get(f"{clip}_frames") is not None]
    heard = [clip for clip in order if media.get(f"{clip}_sound") is not None]
    frames = pictures([names[clip] for clip in seen], [media[f"{clip}_frames"] for clip in seen]) if seen else []
    return [*frames, *sounds([names[clip] for clip in heard], [media[f"{clip}_sound"] for clip in heard], case)]


def verdict(output_first: str, rival_first: str) -> float:
    """1 if both orders name the output, 0 if both name the rival.

    Raises NotApplicable `filtered` for a tie or for verdicts that depend on the order.
    """
    if TIE in (output_first, rival_first):
        raise NotApplicable("filtered", "tie: the judge called the pair equal in at least one order")
    if output_first == rival_first:
        raise NotApplicable("filtered", f"order_inconsistent: the judge chose {output_first} in both orders")
    return 1.0 if output_first == FIRST else 0.0


def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
    """1: this output is preferred in both orders, 0: the rival is."""
    found = [accepted(answer) for answer in answers]
    value = verdict(str(found[0].label), str(found[1].label))
    orders = {name: provenance(one) for name, one in zip(("output_first", "rival_first"), found, strict=True)}
    return Outcome(value, details={"rival": rival_of(case), "evidence": "native", **orders})


def _metric(name: str, dimension: Items) -> Metric:
    return Metric(
        id=f"pairwise_{name}",
        version=2,
        title=f"Pairwise {name.replace('_', ' ')}",
        summary="Whether a judge prefers this output to the rival's in both orders; ties and changes of mind excluded.",
        direction=Direction.HIGHER,
        range=(0.0, 1.0),
        unit="",
        paper="AVENUE, spec section 3",
        needs={},
        needs_of=needs_of(dimension),
        compute=compute,
        judged=Judged(ask_of(name, dimension), READS, (PROMPT,)),
        reads=("references",),
    )


DIMENSIONS: Mapping[str, Items] = {
    "edit_accuracy": items.edit_accuracy,
    "modality_selectivity": items.selectivity,
    "perceptual_quality": items.quality,
    "av_consistency": items.consistency,
}
METRICS = tuple(_metric(name, dimension) for name, dimension in DIMENSIONS.items())


def applies(metric: Metric, case: Case) -> bool:
    """Whether the dimension has anything to ask about a case."""
    return bool(DIMENSIONS[metric.id.removeprefix("pairwise_")](of(case)))
