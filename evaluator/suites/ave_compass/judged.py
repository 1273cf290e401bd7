"""The judged metrics: intent, instruction, fidelity, response and realism, each overall and per modality (spec 7).

All checklist metrics of a case share one set of answers, all realism metrics another one. Values are 0..1, `raw` is the
percentage (of realism: the mean grade 1..5). An item without an answer is left out of its share and listed; a cell of
which no item was answered has no value. The overall records hold what was said of each item. The response rate of a
modality is the mean of `edit_response_video` or `edit_response_audio`: a case has at most one such item each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.labels import expectation
from evaluator.judge.types import Answer, Status
from evaluator.metrics.answers import accepted, evidence, provenance
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, ClipNeed
from evaluator.suites.ave_compass import batches, questions, realism, realism_questions, scoring
from evaluator.suites.ave_compass.checklist import Dimension
from evaluator.suites.ave_compass.evidence import FOR_DEAF, NEEDS, TARGET_NEEDS, Exhibits
from evaluator.suites.ave_compass.scoring import SCOPES, Share, Verdict

INTENT, FOLLOWING, FIDELITY = "editing_intent", "instruction_following", "fidelity_preserving"
RESPONSE, REALISM = "edit_response", "realism"
DIMENSIONS: Mapping[str, Dimension] = {
    FOLLOWING: Dimension.IF,
    FIDELITY: Dimension.FP,
    RESPONSE: Dimension.ER,
}
FAMILIES = (INTENT, FOLLOWING, FIDELITY, RESPONSE, REALISM)
LABELS = ("1", "2", "3", "4", "5")


def metric_id(family: str, scope: str = "overall") -> str:
    """`editing_intent`, `editing_intent_video` and so on."""
    return family if scope == "overall" else f"{family}_{scope}"


# ---------------------------------------------------------------------------------------------- checklist metrics


@dataclass(frozen=True, slots=True)
class Way:
    """How a profile asks and reads: its questions, the verdicts in the answers, and whether it rounds."""

    judged: Judged
    verdicts: Callable[[Case, Exhibits, Sequence[Answer]], Sequence[Verdict]]
    rounded: bool
    version: int


def verdicts(case: Case, exhibits: Exhibits, answers: Sequence[Answer]) -> list[Verdict]:
    """A verdict for every item, in the order of the checklist; without one for what was not answered."""
    items = questions.checklist(case).items
    asked = questions.askable(items, exhibits)
    given = {item.id: answer for item, answer in zip(asked, answers, strict=True)}
    return [Verdict(item, _yes(given.get(item.id)), given.get(item.id)) for item in items]


def _yes(answer: Answer | None) -> bool | None:
    if answer is None or answer.status is not Status.OK:
        return None
    return scoring.binary(answer.label or "")


PAPER = Way(
    Judged(questions.ask, ("checklist", "prompt"), tuple(questions.PROMPTS.values()), for_deaf=FOR_DEAF),
    verdicts,
    rounded=False,
    version=2,
)
COMPAT = Way(
    Judged(
        batches.ask,
        reads=("checklist", "prompt"),
        prompts=tuple(dict.fromkeys(batches.PROMPTS.values())),
        again=batches.again,
        for_deaf=FOR_DEAF,
    ),
    batches.verdicts,
    rounded=True,
    version=2,
)


def compute(way: Way, family: str, scope: str, case: Case, answers: Sequence[Answer], **needs: Any) -> Outcome:
    """A share of yes, or the product of two, 0..1. Raises NotApplicable for an empty cell, AnswerError for failures."""
    exhibits = Exhibits.of(**needs)
    said = way.verdicts(case, exhibits, answers)
    parts = (FOLLOWING, FIDELITY) if family == INTENT else (family,)
    cells = {part: scoring.chosen(said, DIMENSIONS[part], scope) for part in parts}
    shares = {part: _share(part, scope, members) for part, members in cells.items()}
    values = [scoring.as_reported(share.yes / share.answered, way.rounded) for share in shares.values()]
    value = scoring.intent(values[0], values[1], way.rounded) if family == INTENT else values[0]
    members = [one for cell in cells.values() for one in cell]
    details = {
        **_counts(shares),
        **_unanswered(members),
        "evidence": evidence([one.answer for one in members if one.yes is not None and one.answer is not None]),
        **_clip(exhibits),
        **({"items": [_told(one) for one in members]} if family != INTENT and scope == "overall" else {}),
    }
    return Outcome(value, raw=scoring.percent(value, way.rounded), details=details)


def _share(part: str, scope: str, members: Sequence[Verdict]) -> Share:
    """The share of a cell that has one. Raises NotApplicable or AnswerError that says why it has none."""
    if not members:
        kind = "" if scope == "overall" else f"{scope} "
        raise NotApplicable("not_applicable", f"The checklist has no {kind}item of {DIMENSIONS[part]}.")
    found = scoring.share(members)
    if not found.answered:
        first = next((one.answer for one in members if one.answer is not None), None)
        if first is None:
            raise NotApplicable("not_applicable", "A clip has nothing to show for these items.")
        accepted(first)
    return found


def _counts(shares: Mapping[str, Share]) -> dict[str, Any]:
    """How many items are yes, answered and asked: of the cell, or of each factor."""
    trees = {part: {"yes": one.yes, "answered": one.answered, "asked": one.asked} for part, one in shares.items()}
    return dict(trees) if len(trees) > 1 else next(iter(trees.values()))


def _unanswered(members: Sequence[Verdict]) -> dict[str, Any]:
    missing = {
        one.item.id: str(one.answer.status) if one.answer else "no_evidence" for one in members if one.yes is None
    }
    return {"unanswered": missing} if missing else {}


def _clip(exhibits: Exhibits) -> dict[str, Any]:
    """Length of the source, and for whom silence stands."""
    found: dict[str, Any] = {"source_seconds": exhibits.seconds}
    return {**found, "silence_for": exhibits.silence_for} if exhibits.silence_for else found


def _told(one: Verdict) -> dict[str, Any]:
    """What a record keeps of one item."""
    item = one.item
    told = {"id": item.id, "subdimension": item.subdimension, "modality": item.tag, "yes": one.yes}
    if one.answer is None or one.yes is None:
        return told
    if one.answer.label is not None:
        return told | provenance(one.answer)
    return told | {"ledger_key": one.answer.key, "evidence": evidence([one.answer])}


# ------------------------------------------------------------------------------------------------ realism metrics


@dataclass(frozen=True, slots=True)
class RealismWay:
    """How a profile asks for grades and reads them. `whole`: without all grades of the picture nothing has a score."""

    judged: Judged
    grades: Callable[[Exhibits, Sequence[Answer]], tuple[realism.Grades, Mapping[str, Answer]]]
    rounded: bool
    whole: bool
    version: int


REALISM_PAPER = RealismWay(
    Judged(
        realism_questions.ask,
        reads=("checklist", "prompt"),
        prompts=(realism_questions.PAPER, realism_questions.MATERIAL),
        for_deaf=FOR_DEAF,
    ),
    realism_questions.grades,
    rounded=False,
    whole=False,
    version=1,
)
REALISM_COMPAT = RealismWay(
    Judged(realism_questions.ask_at_once, ("checklist", "prompt"), (realism_questions.COMPAT,), for_deaf=FOR_DEAF),
    realism_questions.grades_at_once,
    rounded=True,
    whole=True,
    version=2,
)
GRADED = {
    "overall": (*realism.VISUAL, *realism.SOUND),
    "video": realism.VISUAL,
    "audio": realism.SOUND,
}


def compute_realism(way: RealismWay, scope: str, answers: Sequence[Answer], **needs: Any) -> Outcome:
    """(mean grade - 1) / 4; `raw` is the mean grade, 1..5. Raises NotApplicable or AnswerError."""
    exhibits = Exhibits.of(**needs)
    grades, answered = way.grades(exhibits, answers)
    given = {name: answer for name, answer in answered.items() if name in GRADED[scope]}
    for name in realism.VISUAL if way.whole or scope != "audio" else ():
        accepted(answered[name])
    raw = _raw(way, grades, given, scope)
    missing = {name: str(answer.status) for name, answer in given.items() if answer.status is not Status.OK}
    details = {
        "grades": {name: grades.get(name) for name in given},
        **({"unanswered": missing} if missing else {}),
        "evidence": evidence([answer for answer in given.values() if answer.status is Status.OK]),
        **_clip(exhibits),
        **({"answers": {name: _grade_told(answer) for name, answer in given.items()}} if scope == "overall" else {}),
    }
    return Outcome(realism.score(raw, way.rounded), raw=raw, details=details)


def _raw(way: RealismWay, grades: realism.Grades, given: Mapping[str, Answer], scope: str) -> float:
    """The mean grade of a scope. Sound is graded without the picture's grades, unless the case is lost as a whole."""
    if way.whole or scope != "audio":
        found = realism.aggregate(grades, way.rounded)  # raises where a grade of the picture is missing
        if scope != "audio":
            return found.overall if scope == "overall" else found.video
    value = realism.of_sound(grades, way.rounded)
    if value is None:
        for answer in given.values():
            accepted(answer)
        raise NotApplicable("not_applicable", "The edited clip has no sound that could be graded.")
    return value


def _grade_told(answer: Answer) -> dict[str, Any]:
    """What a record keeps of one grade; the expectation over the digits says how sure it is."""
    if answer.status is not Status.OK or answer.label is None:
        return {"ledger_key": answer.key, "status": str(answer.status)}
    digits = {label: answer.probabilities[label] for label in LABELS}
    mean = expectation(replace(answer, probabilities=digits)) / sum(digits.values())
    return {**provenance(answer), "expectation": mean}


# ---------------------------------------------------------------------------------------------------------- cards

_TITLES = {
    INTENT: ("Editing intent", "Instruction following times fidelity of the case.", "7.6"),
    FOLLOWING: ("Instruction following", "Share of instruction items that the judge affirms.", "7.5"),
    FIDELITY: ("Fidelity preserving", "Share of preservation and hallucination items that the judge affirms.", "7.5"),
    RESPONSE: ("Edit response", "Share of streams in which the judge notices any change.", "7.8"),
    REALISM: ("Realism", "How real the edited clip looks and sounds: mean of graded aspects, scaled.", "7.9"),
}


def _metric(family: str, scope: str, way: Way | RealismWay) -> Metric:
    title, summary, section = _TITLES[family]
    of = {"overall": "", "video": " Video items only.", "audio": " Audio items only."}[scope]
    needs = NEEDS if isinstance(way, Way) else {**TARGET_NEEDS, "source_clip": ClipNeed("source")}
    work: Callable[..., Outcome] = (
        partial(compute, way, family, scope) if isinstance(way, Way) else partial(compute_realism, way, scope)
    )
    return Metric(
        id=metric_id(family, scope),
        version=way.version,
        title=title if scope == "overall" else f"{title}, {scope}",
        summary=summary + of,
        direction=Direction.NONE if family == RESPONSE else Direction.HIGHER,
        range=(0.0, 1.0),
        unit="",
        paper=f"AVE-Compass {section}",
        needs=needs,
        compute=work,
        judged=way.judged,
        reads=("checklist",) if isinstance(way, Way) else (),
        optional=frozenset(needs),
    )


def _all(way: Way, realism_way: RealismWay) -> tuple[Metric, ...]:
    return tuple(
        _metric(family, scope, realism_way if family == REALISM else way) for family in FAMILIES for scope in SCOPES
    )


JUDGED: tuple[Metric, ...] = _all(PAPER, REALISM_PAPER)
"""The judged metrics as profile `paper` (and `strict`) defines them."""
VARIANTS: Mapping[str, Mapping[str, Metric]] = {
    "compat": {metric.id: metric for metric in _all(COMPAT, REALISM_COMPAT)}
}
"""Profile -> metric id -> the metric as that profile defines it."""
