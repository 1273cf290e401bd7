"""Captions of source clips and checklists of edits, written by a judge and looked at before anybody uses them.

A generator is a judged metric whose value is 1 if what came back keeps every rule that is an error, else 0; its details
hold the document, all findings, and what was rejected on the way (`repair`). The rules are those of people's own files
(`captions`, `checklist_rules`). The reference's generator prompt for speech edits is not public; ours states the rules
of spec 6 for all four branches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.evidence import clip_frames
from evaluator.judge.prompts import load
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case
from evaluator.suites.ave_compass import captions, checklist_rules
from evaluator.suites.ave_compass.checklist import DIMENSION, Finding, Subdimension, checklist_of
from evaluator.suites.ave_compass.evidence import FOR_DEAF, NEEDS, Exhibits
from evaluator.suites.ave_compass.questions import routed
from evaluator.suites.ave_compass.taxonomy import OPERATIONS
from evaluator.suites.repair import TRIES, Remark, Repair

CAPTION_PROMPT, CHECKLIST_PROMPT = "ave_caption", "ave_checklist"
CAPTION = "caption"
"""Key of `Case.meta` under which a checklist's generator finds the description of the source."""
SOURCE_NEEDS = {name: need for name, need in NEEDS.items() if name.startswith("source_") and name != "source_clip"}


@dataclass(frozen=True, slots=True)
class Generator:
    """What `evaluator generate KIND` makes: a document per case, in a file `<case>_<kind>.json`."""

    kind: str
    metric: Metric


# ------------------------------------------------------------------------------------------------------- captions


def ask_caption(case: Case, told: Mapping[str, str], **needs: Any) -> Sequence[Question | Routed]:
    """One question about the source clip; `told` says what an earlier answer got wrong.

    Raises NotApplicable for a clip without pictures.
    """
    if needs["source_frames"] is None:
        raise NotApplicable("not_applicable", "The source has no pictures to describe.")
    shown, prompt, place = Exhibits.of(**needs), load(CAPTION_PROMPT), f"{case.id}/{CAPTION}"
    pictures = (clip_frames(needs["source_frames"], "source").part,)
    if shown.source_sound is None or shown.source_sound.missing:
        return [prompt.ask(place, pictures, told)]
    native = (*pictures, *shown.sounds)
    return [routed(prompt, place, native, lambda: (*pictures, *shown.sounds_in_words), told)]


# ------------------------------------------------------------------------------------------------------ checklists


def ask_checklist(case: Case, told: Mapping[str, str]) -> Sequence[Question]:
    """One question in words; `told` says what an earlier answer got wrong.

    Raises NotApplicable for a case without instruction or description of its source.
    """
    seen = caption_of(case)
    if not case.prompt.strip():
        raise NotApplicable("not_applicable", "The case has no instruction to make a checklist of.")
    if not seen:
        raise NotApplicable(
            "not_applicable", "The case has no caption of its source; make one with `generate caption`."
        )
    data = {"branch": case.category, "caption": seen, "instruction": case.prompt, **told}
    kind = edit_type(case)
    return [load(CHECKLIST_PROMPT).ask(f"{case.id}/checklist", (), {**data, **({"edit_type": kind} if kind else {})})]


def whole_checklist(case: Case, questions: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """A file of schema checklist_v2 from the items that the judge wrote, numbered in their order."""
    items = [
        {
            "question_id": f"Q{place:02d}",
            "dimension": DIMENSION[Subdimension(one["subdimension"])],
            "subdimension": one["subdimension"],
            "modality_tag": one["modality_tag"],
            "question": one["question"].strip(),
        }
        for place, one in enumerate(questions, 1)
    ]
    return {
        "schema_version": checklist_rules.VERSION,
        "video": case.source.name if case.source is not None else "",
        "caption": caption_of(case),
        "edit_prompt": case.prompt,
        "edit_type": edit_type(case),
        "edit_category": case.category.replace("-", "_"),
        "questions": items,
        "success": True,
    }


def caption_of(case: Case) -> str:
    """The description of the source: of a caption file, else of a checklist that the case has already."""
    given = case.meta.get(CAPTION)
    if isinstance(given, str) and given:
        return given
    found = checklist_of(case)
    return found.caption if found is not None else ""


def edit_type(case: Case) -> str:
    """The operation in words; empty if the case names none."""
    return OPERATIONS.get(str(case.data.get("operation", "")), "")


# ---------------------------------------------------------------------------------------------------------- pieces


def accept(loop: Repair, answers: Sequence[Answer], case: Case | None = None, **needs: Any) -> Outcome:
    """What became of a document, whatever it was made from. Raises NotApplicable or AnswerError."""
    return loop.outcome(case, answers)


def _remarks(found: Iterable[Finding]) -> list[Remark]:
    return [Remark(one.shown(), one.level == "E") for one in found]


def _metric(name: str, summary: str, paper: str, **more: Any) -> Metric:
    return Metric(name, 1, name.capitalize(), summary, Direction.NONE, (0.0, 1.0), "", paper, **more)


def _caption(tries: int) -> Generator:
    loop = Repair(
        ask_caption, lambda _case, answer: answer, lambda _case, made: _remarks(captions.findings(made)), tries
    )
    metric = _metric(
        CAPTION,
        "A description of the source clip.",
        "AVE-Compass 1.5, 6.4",
        needs=SOURCE_NEEDS,
        optional=frozenset(SOURCE_NEEDS),
        compute=partial(accept, loop),
        judged=Judged(loop.first, reads=(), prompts=(CAPTION_PROMPT,), again=loop.again, for_deaf=FOR_DEAF),
    )
    return Generator(CAPTION, metric)


READ = ("prompt", "category", "data", "meta", "checklist")


def _checklist(tries: int) -> Generator:
    loop = Repair(
        ask_checklist,
        lambda case, answer: whole_checklist(case, answer["questions"]),
        lambda _case, made: _remarks(checklist_rules.findings(made)),
        tries,
    )
    metric = _metric(
        "checklist",
        "The questions by which an edit will be judged.",
        "AVE-Compass 1.4, 6",
        needs={},
        compute=partial(accept, loop),
        judged=Judged(loop.first, reads=READ, prompts=(CHECKLIST_PROMPT,), again=loop.again),
        reads=READ,
    )
    return Generator("checklist", metric)


def generators(tries: int = TRIES) -> Mapping[str, Generator]:
    """What can be generated, by its name on the command line; the judge has so many tries at each document."""
    return {CAPTION: _caption(tries), "checklist": _checklist(tries)}
