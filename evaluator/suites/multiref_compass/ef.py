"""EF, entity fidelity (section 3.4): how like their references the entities look, discounted for copy-and-paste.

`ef_raw` is the mean over entities of their fidelity and needs no judge; `p_paste` is a judge's coefficient for how
naturally they stand in the scene, 0.5 to 1; `ef` is their product. Without a judge `ef` is empty and `ef_raw` stands
alone: a coefficient that nobody gave is not 1. A high `ef_raw` with a low `p_paste` is a cut-out; coverage tells how
many frames show an entity at all, for a profile or a small face lowers EF without any error of identity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.features import EntityCues
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Question
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, ExpertNeed, Need, Sampling
from evaluator.suites.multiref_compass import grading
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.choices import FRAMES
from evaluator.suites.multiref_compass.data import of, views
from evaluator.suites.multiref_compass.fidelity import HUMAN, fidelity, views_of

PROMPT = "multiref_paste"
SPREAD = Sampling("linspace", (FRAMES,))
ONE = Sampling("linspace", (1,))


def coefficient(grade: float) -> float:
    """P_paste: 1 -> 0.5, 3 -> 0.75, 5 -> 1."""
    return 0.5 + 0.125 * (grade - 1.0)


def compute_raw(case: Case, output: EntityCues, **pictures: EntityCues) -> Outcome:
    """Mean over the entities with a reference picture, 0..1. Details: each entity's fidelity and coverage."""
    data = of(case)
    shown = [entity for entity in data.entities if views(case, entity.entity_id)]
    if not shown:
        raise NotApplicable("not_applicable", "no entity has a reference picture")
    references = [
        views_of(entity.kind, [pictures[_cue(role)] for role in views(case, entity.entity_id)]) for entity in shown
    ]
    found = fidelity(references, output, use_faces=data.style == "real")
    entries = [
        {
            "entity": entity.entity_id,
            "kind": entity.kind,
            "fidelity": one.value,
            "coverage": one.coverage,
            "counted": one.counted,
            "cue": one.cue,
        }
        for entity, one in zip(shown, found, strict=True)
    ]
    humans = [one.value for entity, one in zip(shown, found, strict=True) if entity.kind == HUMAN]
    details = {
        "entities": entries,
        "coverage": sum(one.coverage for one in found) / len(found),
        "human": sum(humans) / len(humans) if humans else None,
        "without_pictures": [one.entity_id for one in data.entities if one not in shown],
        "detector": output.detected,
    }
    return Outcome(sum(one.value for one in found) / len(found), details=details)


def ask(case: Case, **media: Any) -> Sequence[Question]:
    """How natural the integration looks."""
    shown = {name: value for name, value in media.items() if name == "frames" or name.startswith("reference")}
    parts = grading.evidence(case, Item("paste", ""), shown)
    return [load(PROMPT).ask(f"{case.id}/ef/paste", parts, {"entities": grading.legend(case)})]


def compute_paste(answers: Sequence[Answer], **media: Any) -> Outcome:
    """P_paste, 0.5..1; `raw` is the grade."""
    answer = accepted(answers[0])
    grade = grading.grade_of(answer)
    return Outcome(coefficient(grade), raw=grade, details=provenance(answer))


def compute(case: Case, answers: Sequence[Answer], output: EntityCues, **media: Any) -> Outcome:
    """P_paste x EF_raw, 0..1; `raw` is EF_raw."""
    pictures = {name: value for name, value in media.items() if name.startswith("cue_")}
    raw, paste = compute_raw(case, output, **pictures), compute_paste(answers)
    details = {**raw.details, "p_paste": paste.value, "paste": paste.details, "evidence": "native"}
    return Outcome(paste.value * raw.value, raw=raw.value, details=details)


def _cue(role: str) -> str:
    return "cue_" + role.partition(":")[2]


def cue_needs(case: Case) -> Mapping[str, Need]:
    """What is compared: 16 frames of the output with every reference picture."""
    roles = [role for entity in of(case).entities for role in views(case, entity.entity_id)]
    return {
        "output": ExpertNeed("entity_cues", sampling=SPREAD),
        **{_cue(role): ExpertNeed("entity_cues", (role,), ONE) for role in roles},
    }


_seen = grading.needs_of(grading.SEES, grading.COMPARES)


def all_needs(case: Case) -> Mapping[str, Need]:
    """What is compared and what is shown."""
    return {**_seen(case), **cue_needs(case)}


QUESTIONS = Judged(ask, grading.READS, (PROMPT,))
RAW = Metric(
    id="ef_raw",
    version=2,
    title="Entity fidelity without the paste coefficient",
    summary="How like their references the entities look, mean over entities, in an embedding.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.4",
    needs={},
    needs_of=cue_needs,
    compute=compute_raw,
    reads=("data", "references"),
)
PASTE = Metric(
    id="ef_p_paste",
    version=1,
    title="Paste coefficient",
    summary="A judge's grade of how naturally the entities stand in the scene, as a coefficient from 0.5 to 1.",
    direction=Direction.HIGHER,
    range=(0.5, 1.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.4",
    needs={},
    needs_of=_seen,
    compute=compute_paste,
    judged=QUESTIONS,
)
EF = Metric(
    id="ef",
    version=2,
    title="Entity fidelity (EF)",
    summary="Fidelity of the entities times the paste coefficient.",
    direction=Direction.HIGHER,
    range=(0.0, 1.0),
    unit="",
    paper="MultiRef-Compass, spec section 3.4",
    needs={},
    needs_of=all_needs,
    compute=compute,
    judged=QUESTIONS,
    reads=("data", "references"),
)
METRICS = (EF, RAW, PASTE)
