"""From a dimension to a metric of one profile: needs, the conversation with the judge, the identity card.

A dimension of signals that looks at aligned shots is scored without a judge too, by the order of the segments, and its
record says which it was; one that a judge decides is skipped then. Knows no dimension.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status
from evaluator.metrics.answers import accepted, evidence
from evaluator.metrics.base import Direction, Judged, Metric, Outcome
from evaluator.schema import Case, Need
from evaluator.suites.cutcraft import screen_text, shots
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.judge_alignment import (
    PRESENCE,
    SEGMENTS,
    presence_question,
    segments_question,
    usable,
)
from evaluator.suites.cutcraft.merge import MODES
from evaluator.suites.cutcraft.modes import Played, Said, Stage, Wanted, play
from evaluator.suites.cutcraft.scene import HEARING, SIGHT, SOUND, Scene

READS = ("prompt", "shots", "checklist", "data")
ALIGNING = (SEGMENTS, PRESENCE)

Needs = Mapping[str, Need]


def nothing(defects: Defects) -> Needs:
    """No needs beyond those that every dimension has."""
    return {}


@dataclass(frozen=True, slots=True)
class Dimension:
    """One of A1 to F2, for any profile."""

    id: str  # "A1"
    title: str
    summary: str
    score: Callable[[Played], Outcome]
    stages: tuple[Stage, ...] = ()  # questions after the alignment
    prompts: tuple[str, ...] = ()
    needs: Callable[[Defects], Needs] = nothing
    hears: bool = False  # questions are about sound too
    optional: frozenset[str] = frozenset()
    stands_in_for: Mapping[str, str] = field(default_factory=dict)
    reads_words: bool = False  # its questions are told what stands on screen, if the case asks for that
    instead: Dimension | None = None  # where a model of `needs` is not mounted
    version: int = 1  # raised when the same inputs give another value

    @property
    def signals(self) -> bool:
        """Whether signals alone can decide it."""
        return MODES[self.id] == "A"


def metric(dimension: Dimension, defects: Defects) -> Metric:
    """The metric of one profile."""
    stages = (segments_stage, presence_stage, *dimension.stages)
    signals = {**shots.needs(defects), **dimension.needs(defects)}
    asked = {**signals, **SIGHT, **(SOUND if dimension.hears else {})}
    card = Metric(
        id=dimension.id.lower(),
        version=dimension.version,
        title=f"{dimension.id} {dimension.title}",
        summary=dimension.summary,
        direction=Direction.HIGHER,
        range=(0.0, 1.0),
        unit="",
        paper=f"CutCraft {dimension.id}, mode {MODES[dimension.id]} (spec 7)",
        needs=asked,
        compute=partial(_compute, dimension, stages, defects),
        judged=Judged(
            partial(_ask, stages, defects),
            READS,
            (*ALIGNING, *dimension.prompts),
            again=partial(_again, stages, defects),
        ),
        reads=READS,
        optional=dimension.optional | (HEARING if dimension.hears else frozenset()),
        spares=frozenset({screen_text.NAME}) if dimension.reads_words else frozenset(),
        needs_of=partial(_case_needs, dimension.reads_words, defects),
        stands_in_for=stands_in(dimension, defects),
        instead=metric(dimension.instead, defects) if dimension.instead else None,
    )
    if not dimension.signals:
        return card
    alone = replace(
        card,
        judged=None,
        needs=signals,
        compute=partial(_compute, dimension, None, defects),
        instead=card.instead.unjudged if card.instead else None,
    )
    return replace(card, unjudged=alone)


def signal_metric(  # an identity card has as many fields
    name: str,
    title: str,
    summary: str,
    compute: Callable[..., Outcome],
    needs: Needs,
    *,
    stands_in_for: Mapping[str, str] | None = None,
    reads: tuple[str, ...] = (),
    needs_of: Callable[[Case], Needs] | None = None,
    version: int = 1,
) -> Metric:
    """A dimension that looks neither at aligned shots nor at answers."""
    return Metric(
        id=name.lower(),
        version=version,
        title=f"{name} {title}",
        summary=summary,
        direction=Direction.HIGHER,
        range=(0.0, 1.0),
        unit="",
        paper=f"CutCraft {name}, mode {MODES[name]} (spec 7)",
        needs=needs,
        compute=compute,
        reads=reads,
        needs_of=needs_of,
        stands_in_for=stands_in_for or {},
    )


def stands_in(dimension: Dimension, defects: Defects) -> Mapping[str, str]:
    """Published models in whose place others serve."""
    added = {"image_embedding": shots.COMPAT_CLIP} if defects.shot_count_leaks else {}
    return {**added, **dimension.stands_in_for}


# ------------------------------------------------------------------------------------------------- alignment


def segments_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Which shot is each segment?"""
    item, prompt, segments, defects = "align/segments", scene.prompt, scene.edit.segments, scene.defects
    return [
        Wanted(item, lambda: segments_question(f"{scene.item}/{item}", prompt, segments, scene.whole(), defects)),
    ]


def presence_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """If that gave nothing: which shots are there, and when?"""
    first = said["align/segments"]
    if usable(first, len(scene.edit.segments), len(scene.prompt.shots), scene.defects) is not None:
        return []
    item, prompt, defects = "align/presence", scene.prompt, scene.defects
    return [Wanted(item, lambda: presence_question(f"{scene.item}/{item}", prompt, scene.whole(), defects))]


# ------------------------------------------------------------------------------------- asking and computing


def _case_needs(words: bool, defects: Defects, case: Case) -> Needs:
    return {**shots.case_needs(defects, case), **(screen_text.needs(case) if words else {})}


def _ask(stages: Sequence[Stage], defects: Defects, case: Case, **media: Any) -> list[Question | Routed]:
    return [one.make() for one in play(Scene.of(defects, case, media), stages, ()).pending]


def _again(
    stages: Sequence[Stage], defects: Defects, case: Case, answers: Sequence[Answer], **media: Any
) -> list[Question | Routed]:
    return [one.make() for one in play(Scene.of(defects, case, media), stages, answers).pending]


def _compute(
    dimension: Dimension,
    stages: Sequence[Stage] | None,
    defects: Defects,
    case: Case,
    answers: Sequence[Answer] = (),
    **media: Any,
) -> Outcome:
    """The score with what every record of a dimension holds. Without stages nobody was asked."""
    scene = Scene.of(defects, case, media)
    played = play(scene, stages, answers) if stages is not None else Played(scene, {}, {}, ())
    outcome = dimension.score(played)
    own = [answer for name, answer in played.said.items() if not name.startswith("align/")]
    details = {
        "modes": MODES[dimension.id],
        **outcome.details,
        "alignment": played.scene.alignment_record(),
        **({"asked": len(own), "answered": sum(one.status is Status.OK for one in own)} if own else {}),
        **({"calls": [one.key for one in played.said.values() if one.key]} if played.said else {}),
        **({"evidence": evidence([one for one in own if one.status is Status.OK])} if own else {}),
        **(screen_text.record(case, media) if dimension.reads_words else {}),
    }
    return Outcome(outcome.value, outcome.raw, details)


def required(value: float | None, played: Played, lacking: str) -> float:
    """A score that exists. Raises what the first answer came to if nobody answered, else NotApplicable(lacking)."""
    if value is not None:
        return value
    failed = [one for name, one in played.said.items() if not name.startswith("align/") and one.status != "ok"]
    if failed:
        accepted(failed[0])
    raise NotApplicable("not_applicable", lacking)
