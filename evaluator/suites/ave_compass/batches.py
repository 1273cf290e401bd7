"""Checklist questions as profile `compat` asks them: all items of one modality in one JSON answer (spec 7.1, 7.3).

Like the reference, the pictures of a video question come with their sound, a clip without a sound track loses every
case that asks about sound, and a case is judged as a whole or not at all. Unlike it, ids are constrained by the schema,
and only items that are missing from an answer are asked again, at most twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson

from evaluator.errors import AnswerError, NotApplicable
from evaluator.judge.prompts import Prompt, load
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.answers import accepted
from evaluator.schema import Case
from evaluator.suites.ave_compass.branches import Branch, compat_judge_branch
from evaluator.suites.ave_compass.checklist import Checklist, Item, Tag
from evaluator.suites.ave_compass.evidence import Exhibits
from evaluator.suites.ave_compass.questions import Parts, checklist, context
from evaluator.suites.ave_compass.scoring import Verdict, binary

AGAIN = 2
"""How often missing items are asked for once more."""
ORDER = (Tag.AUDIO, Tag.VIDEO, Tag.GENERAL)
PROMPTS: Mapping[Branch, str] = {
    "joint": "ave_compat_joint",
    "speech": "ave_compat_joint",
    "video-only": "ave_compat_video_only",
    "audio-only": "ave_compat_audio_only",
}
_MENDED = frozenset({Status.OK, Status.UNPARSED, Status.TRUNCATED, Status.JUDGE_MISSING})
"""Answers after which asking for what is missing can help. JUDGE_MISSING: a replay, which holds no unusable answer and
has to ask what was asked after one."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Items that are asked in one question; `turn` counts how often they were asked before."""

    tag: Tag
    items: tuple[Item, ...]
    turn: int = 0

    def unanswered(self, answer: Answer) -> tuple[Item, ...]:
        """The items that an answer does not hold."""
        held = _entries(answer)
        return tuple(item for item in self.items if item.id not in held)


def ask(case: Case, **needs: Any) -> list[Question | Routed]:
    """One question per modality that the checklist has items of. Raises NotApplicable."""
    found, exhibits = checklist(case), Exhibits.of(**needs)
    _require_tracks(found, exhibits)
    return [_question(case.id, found, batch, exhibits) for batch in _first(found)]


def again(case: Case, answers: Sequence[Answer], **needs: Any) -> list[Question | Routed]:
    """Questions for the items that are missing from the answers so far."""
    found, exhibits = checklist(case), Exhibits.of(**needs)
    _, missing = _progress(found, answers)
    return [_question(case.id, found, batch, exhibits) for batch in missing]


def verdicts(case: Case, exhibits: Exhibits, answers: Sequence[Answer]) -> list[Verdict]:
    """A verdict for every item, in the order of the checklist: all or none.

    Raises NotApplicable or AnswerError if any item has no answer.
    """
    found = checklist(case)
    held: dict[str, tuple[str, Answer]] = {}
    for batch, answer in _progress(found, answers)[0]:
        for name, said in _entries(answer).items():
            held.setdefault(name, (said, answer))
        if batch.turn == AGAIN or answer.status not in _MENDED:
            for item in batch.unanswered(answer):
                raise _lost(item, accepted(answer))
    return [Verdict(item, binary(held[item.id][0]), held[item.id][1]) for item in found.items]


def schema(prompt: Prompt, ids: Sequence[str]) -> dict[str, Any]:
    """The prompt's schema for exactly these ids."""
    tree: dict[str, Any] = orjson.loads(orjson.dumps(prompt.answer_schema))
    entries = tree["properties"]["evaluations"]
    entries |= {"minItems": len(ids), "maxItems": len(ids)}
    entries["items"]["properties"]["question_id"] = {"enum": list(ids)}
    return tree


# ------------------------------------------------------------------------------------------------------- pieces


def _first(found: Checklist) -> list[Batch]:
    return [Batch(tag, items) for tag in ORDER if (items := found.of(tag))]


def _progress(found: Checklist, answers: Sequence[Answer]) -> tuple[list[tuple[Batch, Answer]], list[Batch]]:
    """(what was asked with what came back, what is to be asked next), from the answers in their order."""
    asked: list[tuple[Batch, Answer]] = []
    batches, rest = _first(found), list(answers)
    while batches and len(rest) >= len(batches):
        turn = list(zip(batches, rest, strict=False))
        asked, rest = [*asked, *turn], rest[len(batches) :]
        batches = [more for batch, answer in turn for more in _next(batch, answer)]
    return asked, batches


def _next(batch: Batch, answer: Answer) -> Iterable[Batch]:
    missing = batch.unanswered(answer)
    if missing and batch.turn < AGAIN and answer.status in _MENDED:
        yield Batch(batch.tag, missing, batch.turn + 1)


def _entries(answer: Answer) -> dict[str, str]:
    """Question id -> what was answered. The first of two entries for one id counts."""
    if answer.status is not Status.OK:
        return {}
    found: dict[str, str] = {}
    for entry in answer.value["evaluations"]:
        found.setdefault(entry["question_id"], entry["answer"] or "")  # null affirms nothing (spec 7.4)
    return found


def _question(case: str, found: Checklist, batch: Batch, exhibits: Exhibits) -> Question | Routed:
    prompt = load(PROMPTS[compat_judge_branch(found.category, found.edit_type, found.prompt)])
    make = partial(_with_items, prompt, f"{case}/checklist/{batch.tag}", found, batch)
    if batch.tag is not Tag.VIDEO:
        return Routed(make(exhibits.of_tag(batch.tag)), lambda: make(exhibits.instead(batch.tag), substitute=True))
    if exhibits.sound is None or exhibits.source_sound is None:
        return make(exhibits.pictures)
    with_sound = exhibits.of_tag(Tag.GENERAL)
    return Routed(make(with_sound), lambda: make(exhibits.pictures, substitute=True))


def _with_items(
    prompt: Prompt, place: str, found: Checklist, batch: Batch, evidence: Parts, substitute: bool = False
) -> Question:
    items = [
        {
            "question_id": item.id,
            "dimension": item.dimension,
            "subdimension": item.subdimension,
            "modality_tag": item.tag,
            "question": item.question,
        }
        for item in batch.items
    ]
    data = {**context(found), "items": orjson.dumps(items).decode()}
    question = prompt.ask(place, evidence, data, substitute=substitute, sample=batch.turn)
    return replace(question, answer_schema=schema(prompt, [item.id for item in batch.items]))


def _require_tracks(found: Checklist, exhibits: Exhibits) -> None:
    """The reference extracts sound with FFmpeg, which fails on a clip without any."""
    if found.of(Tag.AUDIO, Tag.GENERAL) and exhibits.silence_for:
        clips = " and ".join(exhibits.silence_for)
        raise NotApplicable("not_applicable", f"The {clips} has no sound track; the reference loses such a case.")
    for tag in {item.tag for item in found.items}:
        if not exhibits.perceivable(tag):
            raise NotApplicable("not_applicable", f"A clip has nothing to show for the {tag} items.")


def _lost(item: Item, answer: Answer) -> AnswerError:
    return AnswerError("incomplete", f"{item.id} is missing from the answer {answer.key[:12]}; the case is lost")
