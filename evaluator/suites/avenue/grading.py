"""Grades of items: the evidence that each item needs, one question per item, and what its answers come to.

Shared by the judged dimensions of AVENUE. An item whose medium a clip lacks (an output without sound) is not asked, and
one that no judge perceives is not answered: both are counted and neither is a grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.evidence import clip_frames, paired_frames, sound
from evaluator.judge.labels import expectation
from evaluator.judge.prompts import load
from evaluator.judge.types import Answer, Part, Question, Status
from evaluator.media.types import Audio, Frames
from evaluator.metrics.answers import accepted, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, Need
from evaluator.suites.avenue import matching
from evaluator.suites.avenue.data import AUDIO, VIDEO, AvenueData, lines, of, preserved, prompt
from evaluator.suites.avenue.items import Item
from evaluator.suites.avenue.scale import linear0, score100

Items = Callable[[AvenueData], tuple[Item, ...]]
READS = ("data", "prompt")
MEDIA = frozenset({"target_frames", "source_frames", "target_sound", "source_sound"})
"""Names of the needs; each arrives as None where a clip has no such stream."""


def needs_of(items: Items) -> Callable[[Case], Mapping[str, Need]]:
    """The media that the items of a case are about."""

    def needs(case: Case) -> Mapping[str, Need]:
        found = items(of(case))
        modalities = {modality for item in found for modality in item.modalities}
        compared = any(item.compared for item in found)
        roles = {"target": "video", **({"source": "source"} if compared else {})}
        frames = {f"{name}_frames": matching.frames_need(case, role) for name, role in roles.items()}
        sounds = {f"{name}_sound": matching.sound_need(role) for name, role in roles.items()}
        return {**(frames if VIDEO in modalities else {}), **(sounds if AUDIO in modalities else {})}

    return needs


def shown(item: Item, case: Case, media: Mapping[str, Any]) -> list[Part] | None:
    """The evidence of one item, or None if a clip lacks the medium."""
    names = ("source", "target") if item.compared else ("target",)
    parts: list[Part] = []
    for modality in item.modalities:
        kind = "frames" if modality == VIDEO else "sound"
        found = [one for name in names if (one := media.get(f"{name}_{kind}")) is not None]
        if len(found) < len(names):
            return None
        parts += pictures(names, found) if modality == VIDEO else sounds(names, found, case)
    return parts


def pictures(names: Sequence[str], found: Sequence[Frames]) -> list[Part]:
    """Frames of one clip, or of several at the same times: those of the clip whose samples end first."""
    if len(found) == 1:
        return [clip_frames(found[0], names[0]).part]
    first = min(range(len(found)), key=lambda place: float(found[place].time[-1] - _start(found[place])))
    parts = []
    for place in range(len(names)):
        other = place if place != first else (first + 1) % len(found)
        both = paired_frames(found[first], found[other], (names[first], names[other]))
        parts.append(both[0 if place == first else 1].part)
    return parts


def _start(frames: Frames) -> float:
    """Time of the clip's first frame."""
    return float(frames.clip.video.times[0]) if frames.clip.video is not None else float(frames.time[0])


def sounds(names: Sequence[str], found: Sequence[Audio], case: Case) -> list[Part]:
    """The sounds within the common duration; frames and sound of a clip carry its name and their kind."""
    return [sound(matching.cut(one, case), f"{name} sound").part for name, one in zip(names, found, strict=True)]


def asked(items: Items, case: Case, media: Mapping[str, Any]) -> list[tuple[Item, list[Part]]]:
    """The items that can be shown, with their evidence. Raises NotApplicable if there is none."""
    pairs = [(item, shown(item, case, media)) for item in items(of(case))]
    found = [(item, parts) for item, parts in pairs if parts is not None]
    if not found:
        raise NotApplicable("not_applicable", "a clip lacks the sound or the pictures that would have to be judged")
    return found


def context(case: Case, item: Item, slots: Sequence[str]) -> dict[str, str]:
    """What a prompt may be told about a case: only the data blocks that it has."""
    data = of(case)
    kept = [text for modality in item.modalities if (text := preserved(data, modality))]
    trigger = data.trigger
    wanted = [text for modality in item.modalities if (text := prompt(data.target_prompt, modality))]
    known = {
        "instruction": case.prompt,
        "changed": lines(data.what_changed),
        "preserved": item.elements or "\n".join(dict.fromkeys(kept)),
        "target": "\n".join(dict.fromkeys(wanted)),
        "trigger": trigger.description if trigger else "",
        "moments": "\n".join(f"{start:.2f} s to {end:.2f} s" for start, end in trigger.intervals) if trigger else "",
        "question": item.question,
    }
    names = {slot.rstrip("?*") for slot in slots}
    return {name: text for name, text in known.items() if name in names and text}


def one_each(dimension: str, name: str, items: Items) -> Callable[..., Sequence[Question]]:
    """`ask` of a dimension: one question per item with the prompt of that name."""

    def ask(case: Case, **media: Any) -> Sequence[Question]:
        form = load(name)
        return [
            form.ask(f"{case.id}/{dimension}/{item.id}", parts, context(case, item, form.slots))
            for item, parts in asked(items, case, media)
        ]

    return ask


Grade = Callable[[Answer], float]


def by_label(answer: Answer) -> float:
    """Mean of the labels 1..5 under the judge's probabilities."""
    return expectation(answer)


def by_number(answer: Answer) -> float:
    """The whole number of a JSON answer."""
    return float(answer.value["score"])


def tally(ids: Sequence[str], answers: Sequence[Answer], grade: Grade = by_label) -> tuple[float, dict[str, Any]]:
    """(mean grade over the answered items, details).

    If no item was answered, raises what the first one came to (NotApplicable `no_judge`, or AnswerError).
    """
    graded = {name: grade(answer) for name, answer in zip(ids, answers, strict=True) if answer.status is Status.OK}
    if not graded:
        accepted(answers[0])
    results = [
        {"id": name, "grade": graded.get(name), "status": str(answer.status), **_told(answer)}
        for name, answer in zip(ids, answers, strict=True)
    ]
    return sum(graded.values()) / len(graded), {"items": results, "answered": len(graded), "asked": len(ids)}


def _told(answer: Answer) -> dict[str, Any]:
    if answer.status is not Status.OK:
        return {"message": answer.message}
    return provenance(answer) if answer.probabilities else {"ledger_key": answer.key, "answer": answer.value}


def outcome(case: Case, mean: float, details: dict[str, Any], expected: int) -> Outcome:
    """A record: 0-100, the raw mean, the other scaling, and whether all `expected` items stand behind it."""
    answered = details["answered"]
    kind = "native" if answered == expected else f"partial {answered} of {expected}"
    common = matching.matched(case)
    known = {"seconds": common.seconds, "systems": common.systems, "expected": expected, "evidence": kind}
    return Outcome(score100(mean), raw=mean, details={"linear0": linear0(mean), **known, **details})


def dimension(
    name: str,
    title: str,
    summary: str,
    items: Items,
    judged: Judged,
    compute: Callable[..., Outcome],
    paper: str = "AVENUE, spec section 2",
    version: int = 1,
) -> Metric:
    """A judged dimension of this suite: 0-100, higher is better."""
    return Metric(
        id=name,
        version=version,
        title=title,
        summary=summary,
        direction=Direction.HIGHER,
        range=(0.0, 100.0),
        unit="%",
        paper=paper,
        needs={},
        needs_of=needs_of(items),
        compute=compute,
        judged=judged,
        reads=READS,
        optional=MEDIA,
    )


def whole(items: Items, grade: Grade = by_label) -> Callable[..., Outcome]:
    """`compute` of a dimension: the mean over its items."""

    def compute(case: Case, answers: Sequence[Answer], **media: Any) -> Outcome:
        ids = [item.id for item, _ in asked(items, case, media)]
        mean, details = tally(ids, answers, grade)
        return outcome(case, mean, details, len(items(of(case))))

    return compute


def judged(dimension_id: str, name: str, items: Items) -> Judged:
    """The questions of a dimension."""
    return Judged(one_each(dimension_id, name, items), READS, (name,))
