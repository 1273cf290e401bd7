"""Modality Selectivity (section 2): did everything stay that had to, and the same by modality.

The mean over the answered items mixes modalities (five visual items and one of sound under scope A), so that a system
which ruins preserved sound loses at most a sixth of it: the split stands beside it as two metrics of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import LETTERS, load
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.base import Judged, Outcome
from evaluator.metrics.second_chance import once_more, settling
from evaluator.schema import Case
from evaluator.suites.avenue import items
from evaluator.suites.avenue.data import AUDIO, VIDEO, lines, of
from evaluator.suites.avenue.grading import (
    READS,
    Grade,
    asked,
    by_label,
    by_number,
    dimension,
    judged,
    outcome,
    tally,
    whole,
)

ITEMS = items.selectivity
QUESTIONS = judged("modality_selectivity", "avenue_selectivity", ITEMS)


def compute_part(
    modality: str, case: Case, answers: Sequence[Answer], grade: Grade = by_label, **media: Any
) -> Outcome:
    """The same answers, the items of one modality only."""
    pairs = list(zip((item for item, _ in asked(ITEMS, case, media)), answers, strict=True))
    own = [(item.id, answer) for item, answer in pairs if item.modalities == (modality,)]
    expected = sum(item.modalities == (modality,) for item in ITEMS(of(case)))
    if not own:
        raise NotApplicable("not_applicable", f"no {modality} item applies to this case")
    mean, details = tally([name for name, _ in own], [answer for _, answer in own], grade)
    return outcome(case, mean, details, expected)


METRIC = dimension(
    "modality_selectivity",
    "Modality selectivity (MS)",
    "A judge's grades of what had to stay, mean over all answered items.",
    ITEMS,
    QUESTIONS,
    whole(ITEMS),
    version=2,
)
VIDEO_METRIC = dimension(
    "modality_selectivity_video",
    "MS, picture",
    "The same, visual items only.",
    ITEMS,
    QUESTIONS,
    partial(compute_part, VIDEO),
    version=2,
)
AUDIO_METRIC = dimension(
    "modality_selectivity_audio",
    "MS, sound",
    "The same, audio items only.",
    ITEMS,
    QUESTIONS,
    partial(compute_part, AUDIO),
    version=2,
)
METRICS = (METRIC, VIDEO_METRIC, AUDIO_METRIC)


# ------------------------------------------------------------------- compat: all items in one JSON answer

BATCH = "avenue_grades"


def ask_at_once(case: Case, **media: Any) -> Sequence[Question]:
    """One question with all items of the case. It needs a judge that perceives everything that any item shows."""
    found = asked(ITEMS, case, media)
    parts = {part.sha256: part for _, shown in found for part in shown}
    data = of(case)
    elements = [item.elements for item, _ in found if item.elements]
    told: dict[str, str | Sequence[str]] = {
        "instruction": case.prompt,
        "changed": lines(data.what_changed),
        "item": [item.question for item, _ in found],
    }
    if elements:
        told["preserved"] = "\n".join(elements)
    if len(found) < 2:
        raise NotApplicable("not_applicable", "one item alone is no list")
    return [load(BATCH).ask(f"{case.id}/modality_selectivity", list(parts.values()), told)]


def flaw(case: Case, answer: Answer, media: Mapping[str, Any]) -> str:
    """Items that an answer leaves out or grades twice."""
    count = len(asked(ITEMS, case, media))
    given = Counter(entry["id"] for entry in answer.value["items"])
    wrong = [letter for letter in LETTERS[:count] if given[letter] != 1]
    return f"each item is graded once, and this does not hold for {', '.join(wrong)}" if wrong else ""


def spread(answer: Answer, count: int) -> list[Answer]:
    """One answer per item from the answer about all. An item that is missing, or graded twice, is unparsed."""
    if answer.status is not Status.OK:
        return [answer] * count
    graded: dict[str, list[Any]] = {}
    for entry in answer.value["items"]:
        graded.setdefault(entry["id"], []).append(entry)
    return [_entry(answer, graded.get(letter, [])) for letter in LETTERS[:count]]


def _entry(answer: Answer, entries: list[Any]) -> Answer:
    if len(entries) != 1:
        return Answer(Status.UNPARSED, answer.key, message=f"{len(entries)} grades of the item")
    return replace(answer, value=entries[0])


def at_once(compute: Callable[..., Outcome]) -> Callable[..., Outcome]:
    """`compute` on the one answer: the second if the first left items out; what that leaves out too has no grade."""

    def spread_first(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
        return compute(case=case, answers=spread(answers[0], len(asked(ITEMS, case, media))), **media)

    return settling(spread_first, flaw, refuse=False)


AT_ONCE = once_more(Judged(ask_at_once, READS, (BATCH,)), flaw)
COMPAT = {
    METRIC.id: replace(METRIC, judged=AT_ONCE, compute=at_once(whole(ITEMS, by_number))),
    VIDEO_METRIC.id: replace(
        VIDEO_METRIC, judged=AT_ONCE, compute=at_once(partial(compute_part, VIDEO, grade=by_number))
    ),
    AUDIO_METRIC.id: replace(
        AUDIO_METRIC, judged=AT_ONCE, compute=at_once(partial(compute_part, AUDIO, grade=by_number))
    ),
}
