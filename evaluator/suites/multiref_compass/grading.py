"""Grades from 1 to 5 of the items of a sub-metric: evidence, questions, and what the answers come to.

References are shown under the letter of their entity, so that the judge knows which is which without a file's name.
Sound is shown as sound: without a judge that hears, items about it stay unanswered and their cells empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.evidence import clip_frames, sound, still
from evaluator.judge.labels import expectation
from evaluator.judge.prompts import LETTERS, load
from evaluator.judge.types import Answer, Part, Question, Status
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.metrics.second_chance import once_more, settling
from evaluator.schema import AudioNeed, AudioView, Case, Filter, Fit, FramesNeed, Need, Sampling, View
from evaluator.suites.multiref_compass.checklist import Item
from evaluator.suites.multiref_compass.choices import FRAMES, JUDGE_SIDE, VIEW_SIDE
from evaluator.suites.multiref_compass.data import of, reference_video, views

READS = ("data", "prompt", "checklist", "references")
GRADES, OBSERVED = "score", "score_reason"
"""Prompts of the profiles `paper` and `compat`."""
MOTION = View(Sampling("linspace", (FRAMES,)), Fit.LONG_SIDE_MAX, JUDGE_SIDE, filter=Filter.FFMPEG_BICUBIC)
STILL = View(Sampling("linspace", (1,)), Fit.LONG_SIDE_MAX, VIEW_SIDE)
GLIMPSE = View(Sampling("linspace", (4,)), Fit.LONG_SIDE_MAX, JUDGE_SIDE, filter=Filter.FFMPEG_BICUBIC)

Items = Callable[[Case], tuple[Item, ...]]
SEES, HEARS, COMPARES = "sees", "hears", "compares"


def needs_of(*shown: str) -> Callable[[Case], Mapping[str, Need]]:
    """The output's frames, its sound, and the references, as far as they are shown."""

    def needs(case: Case) -> Mapping[str, Need]:
        found: dict[str, Need] = {"frames": FramesNeed(MOTION)}
        if HEARS in shown:
            found["sound"] = AudioNeed(AudioView())
        if COMPARES in shown:
            roles = [role for entity in of(case).entities for role in views(case, entity.entity_id)]
            found |= {_name(role): FramesNeed(STILL, role) for role in roles}
            clip = reference_video(case)
            found |= {"reference_clip": FramesNeed(GLIMPSE, clip)} if clip else {}
        return found

    return needs


def _name(role: str) -> str:
    return role.replace(":", "_")


def evidence(case: Case, item: Item, media: Mapping[str, Any]) -> list[Part]:
    """The references (of the item's entity, or all), the output's frames, and its sound, as far as they were asked."""
    parts = references(case, item.entity, media)
    parts.append(clip_frames(media["frames"], "target").part)
    if "sound" in media:
        if media["sound"] is None:
            raise NotApplicable("not_applicable", "the output has no sound track")
        parts.append(sound(media["sound"], "target sound").part)
    return parts


def references(case: Case, only: int | None, media: Mapping[str, Any]) -> list[Part]:
    """Stills of the reference views, named by the letter of their entity and the number of the view."""
    parts: list[Part] = []
    for place, entity in enumerate(of(case).entities):
        if only is not None and place != only:
            continue
        for number, role in enumerate(views(case, entity.entity_id), 1):
            if (frames := media.get(_name(role))) is not None:
                parts.append(still(frames, 0, f"reference {LETTERS[place]} view {number}").part)
    clip = media.get("reference_clip")
    if clip is not None:  # as stills: all clips of one question would have to share their times
        parts += [still(clip, row, f"reference clip moment {row + 1}").part for row in range(len(clip.data))]
    return parts


def legend(case: Case) -> str:
    """Which letter is which entity."""
    return "\n".join(
        f"{LETTERS[place]}: {entity.name} ({entity.kind})" for place, entity in enumerate(of(case).entities)
    )


def asking(metric: str, form: str, items: Items, rubric: str) -> Callable[..., Sequence[Question]]:
    """`ask` of a sub-metric: one question per item. Raises NotApplicable `unavailable` where there are no items."""

    def ask(case: Case, **media: Any) -> Sequence[Question]:
        prompt = load(form)
        return [
            prompt.ask(
                f"{case.id}/{metric}/{item.id}",
                evidence(case, item, media),
                {"instruction": case.prompt, "caption": legend(case), "rubric": rubric, "question": item.question},
            )
            for item in required(items, case)
        ]

    return ask


def required(items: Items, case: Case) -> tuple[Item, ...]:
    """The items. Raises NotApplicable where the checklist has none."""
    found = items(case)
    if not found:
        raise NotApplicable("unavailable", "the checklist has no item of this category")
    return found


def grade_of(answer: Answer) -> float:
    """1..5: the mean of the labels, or the whole number that was written."""
    return expectation(answer) if answer.probabilities else float(answer.value["score"])


def tally(found: Sequence[Item], answers: Sequence[Answer]) -> Outcome:
    """Mean grade of the answered items; if none was answered, raises what the first came to."""
    graded = [grade_of(answer) for answer in answers if answer.status is Status.OK]
    if not graded:
        accepted(answers[0])
    kind = "native" if len(graded) == len(found) else f"partial {len(graded)} of {len(found)}"
    entries = [_entry(item, answer) for item, answer in zip(found, answers, strict=True)]
    details = {"items": entries, "answered": len(graded), "asked": len(found), "evidence": kind}
    return Outcome(sum(graded) / len(graded), details=details)


def _entry(item: Item, answer: Answer) -> dict[str, Any]:
    about = {"id": item.id, "subdim": item.subdim, "question": item.question, "status": str(answer.status)}
    if answer.status is not Status.OK:
        return {**about, "grade": None, "message": answer.message}
    told = provenance(answer) if answer.probabilities else {"ledger_key": answer.key, **answer.value}
    return {**about, "grade": grade_of(answer), **told}


def computing(items: Items) -> Callable[..., Outcome]:
    """`compute` of a sub-metric: the mean over its items."""

    def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
        return tally(required(items, case), answers)

    return compute


def graded(  # the identity card of a judged sub-metric
    metric_id: str, title: str, summary: str, items: Items, rubric: str, shown: Sequence[str], paper: str
) -> Metric:
    """A judged sub-metric, 1..5."""
    return Metric(
        id=metric_id,
        version=1,
        title=title,
        summary=summary,
        direction=Direction.HIGHER,
        range=(1.0, 5.0),
        unit="",
        paper=f"MultiRef-Compass, spec section {paper}",
        needs={},
        needs_of=needs_of(*shown),
        compute=computing(items),
        judged=Judged(asking(metric_id, GRADES, items, rubric), READS, (GRADES,)),
        reads=READS,
        optional=frozenset({"sound"}),
    )


def observed(metric: Metric, items: Items, rubric: str) -> Metric:
    """The same sub-metric asked for an observation and a whole number per item (profile `compat`)."""
    judged = once_more(Judged(asking(metric.id, OBSERVED, items, rubric), READS, (OBSERVED,)))
    return replace(metric, judged=judged, compute=settling(metric.compute))
