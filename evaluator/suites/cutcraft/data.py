"""What a CutCraft case holds: the script shot by shot and six questions about it, checked before anything is scored.

`Case.shots` are the shots as published, `Case.checklist` the questions, `Case.data` what else the prompt file says.
Every label is normalised by the tables of `labels`; one that they do not know is a problem that names the nearest known
one, for an unknown label that became some class would be scored as if it had been asked for. Source: spec 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluator.errors import NotApplicable, UsageError
from evaluator.manifest.problems import Problem, explained, quoted
from evaluator.schema import Case
from evaluator.suites.cutcraft import labels
from evaluator.suites.cutcraft.alignment import Span

CAMERA = {
    "shot_scale": "scale",
    "angle": "angle",
    "camera_motion": "motion",
    "optical_motion": "zoom",
    "depth_of_field": "depth",
}
"""Field of the prompt file -> table of labels."""
CUT = {
    "cinematographic_type": "cinematographic",
    "optical_effect": "optical",
    "audio_visual_relation": "relation",
}
DIMENSIONS = ("A2", "A3", "C1", "E3", "E1", "D1")
"""Dimensions that a stored question belongs to, in the bank's order."""
STORED_FRAMES = 6
"""Frames between two pictures of the reference's semantic look at a clip of 24 frames a second."""

MOST_READ = 4.0
"""Pictures a second in which words may be read: as many as the judge may be shown."""

_TIMES = re.compile(r"\[\s*(\d+(?:\.\d+)?)\s*[-–~]\s*(\d+(?:\.\d+)?)\s*(?:s|秒)?\s*\]")
_PREFIX = re.compile(r"^\s*(?:shot|镜头)\s*\d*\s*\[[^\]]*\]\s*[::]?\s*", re.IGNORECASE)


class CutData(BaseModel):
    """`data{}` of a case."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    prompt_id: int = Field(ge=0, description="Number of the prompt; clips are named by it.")
    title: str = ""
    source_seed: str = Field(min_length=1, description="Montage, subject, style and number of shots, joined by _.")
    editing_style: str = Field("", description="The global editing style, in prose.")
    number_of_shots: int = Field(ge=1, description="Shots that were asked for.")
    embed_every: int = Field(
        STORED_FRAMES, ge=1, description="Frames between two pictures that profile compat embeds to find cuts."
    )
    text_fps: float | None = Field(
        None, gt=0.0, le=MOST_READ, description="Pictures a second whose words are read for the judge; none if absent."
    )
    shown: int | None = Field(None, description="Displacement test: the prompt that the clip was really made from.")


class _Published(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


class _Camera(_Published):
    shot_scale: str
    angle: str
    camera_motion: str
    optical_motion: str
    depth_of_field: str


class _Transition(_Published):
    cinematographic_type: str
    optical_effect: str
    audio_visual_relation: str
    description: str = ""


class _Shot(_Published):
    shot_id: int = Field(ge=1)
    description_prompt: str
    camera: _Camera
    transition_to_next: _Transition | None = None
    event_coherence_label: int = Field(ge=0)


class _Question(_Published):
    question_id: str = Field(min_length=1)
    dimension: Literal["A2", "A3", "C1", "E3", "E1", "D1"]
    question: str = Field(min_length=1)
    options: list[str] = Field(min_length=2, max_length=13)
    correct_answer: str = Field(pattern="^[A-M]$")
    target_shot_id: int | str | None = None


class _Whole(_Published):
    shots: list[_Shot] = Field(min_length=1)
    checklist: list[_Question]


@dataclass(frozen=True, slots=True)
class Transition:
    """What joins a shot to the next one, in the prompt's own words."""

    cinematographic: str
    optical: str
    relation: str
    description: str


@dataclass(frozen=True, slots=True)
class PromptShot:
    """One shot of the script."""

    number: int  # from 1
    text: str  # with its time range
    span: Span  # seconds; (0, 0) if the text has none
    camera: Mapping[str, str]  # as published
    transition: Transition | None
    thread: int  # event coherence label

    @property
    def description(self) -> str:
        """The text without the number and the time range in front of it."""
        return _PREFIX.sub("", self.text)


@dataclass(frozen=True, slots=True)
class Stored:
    """One question of the bank. Options are without their letters."""

    id: str
    dimension: str
    text: str
    options: tuple[str, ...]
    key: int  # which option is right
    target: str  # shot or cut it is about, as published; "" for the whole clip


@dataclass(frozen=True, slots=True)
class Prompt:
    """One entry of the prompt file with its questions."""

    id: int
    title: str
    overall: str
    montage: str  # one of labels.classes("montage")
    style: str  # one of labels.classes("style")
    editing_style: str
    number_of_shots: int
    shots: tuple[PromptShot, ...]
    stored: Mapping[str, Stored]  # by dimension
    embed_every: int

    @property
    def spans(self) -> tuple[Span, ...]:
        """Time ranges of the script."""
        return tuple(shot.span for shot in self.shots)

    @property
    def cuts(self) -> tuple[Transition, ...]:
        """The transitions of the script, in order. Raises NotApplicable for a script of one shot."""
        found = tuple(shot.transition for shot in self.shots[:-1] if shot.transition is not None)
        if not found:
            raise NotApplicable("not_applicable", "The script has one shot and so no transition.")
        return found

    @property
    def words(self) -> str:
        """Title, whole and shots, for rules that look for words."""
        return " ".join((self.title, self.overall, *(shot.text for shot in self.shots)))

    def question(self, dimension: str) -> Stored:
        """The stored question of a dimension. Raises NotApplicable if the bank has none."""
        if dimension not in self.stored:
            raise NotApplicable("not_applicable", f"The question bank has no {dimension} question for this prompt.")
        return self.stored[dimension]


def time_range(text: str) -> Span:
    """Seconds of the first [start-end] in a text; (0, 0) without one.

    >>> time_range("Shot 2 [05.00-10.00s]: rain"), time_range("rain")
    ((5.0, 10.0), (0.0, 0.0))
    """
    found = _TIMES.search(text)
    return (float(found[1]), float(found[2])) if found else (0.0, 0.0)


def prompt_of(case: Case) -> Prompt:
    """The prompt of a case that `examine` accepted."""
    data = CutData.model_validate(case.data)
    montage, style = seed_labels(data.source_seed)
    whole = _Whole.model_validate({"shots": list(case.shots), "checklist": _questions(case)})
    return Prompt(
        id=data.prompt_id,
        title=data.title,
        overall=case.prompt,
        montage=montage,
        style=style,
        editing_style=data.editing_style,
        number_of_shots=data.number_of_shots,
        shots=tuple(map(_shot, whole.shots)),
        stored={one.dimension: _stored(one) for one in whole.checklist},
        embed_every=data.embed_every,
    )


def seed_labels(seed: str) -> tuple[str, str]:
    """(montage, style) of a source seed. Raises UsageError for what the tables do not know."""
    parts = seed.split("_")
    if len(parts) < 3:
        raise UsageError(f"source_seed: expected montage_subject_style_shots, found {seed!r}")
    return labels.normalise("montage", parts[0]), labels.normalise("style", parts[2])


def examine(case: Case) -> Iterable[Problem]:
    """What keeps a case from being scored."""
    try:
        whole = _Whole.model_validate({"shots": list(case.shots), "checklist": _questions(case)})
    except ValidationError as error:
        return [explained(one, 0, ()) for one in error.errors(include_url=False, include_context=False)]
    return [*_label_problems(case, whole), *_contradictions(case, whole)]


def _questions(case: Case) -> list[Any]:
    return list(case.checklist) if case.checklist is not None else []


def _label_problems(case: Case, whole: _Whole) -> Iterator[Problem]:
    try:
        seed_labels(str(case.data.get("source_seed", "")))
    except UsageError as error:
        yield Problem(0, "data.source_seed", str(error), quoted(str(case.data.get("source_seed", ""))))
    for place, shot in enumerate(whole.shots):
        fields = [(f"camera.{name}", table, getattr(shot.camera, name)) for name, table in CAMERA.items()]
        if shot.transition_to_next is not None:
            cut = shot.transition_to_next
            fields += [(f"transition_to_next.{name}", table, getattr(cut, name)) for name, table in CUT.items()]
        for name, table, label in fields:
            try:
                labels.normalise(table, label)
            except UsageError as error:
                yield Problem(0, f"shots[{place}].{name}", str(error), quoted(label))


def _contradictions(case: Case, whole: _Whole) -> Iterator[Problem]:
    joined = [shot.transition_to_next is not None for shot in whole.shots]
    if joined != [True] * (len(joined) - 1) + [False]:
        yield Problem(0, "shots", "a transition after every shot but the last", quoted(str(joined)))
    seen: set[str] = set()
    for place, question in enumerate(whole.checklist):
        if question.dimension in seen:
            yield Problem(0, f"checklist[{place}].dimension", "one question per dimension", quoted(question.dimension))
        seen.add(question.dimension)
        if ord(question.correct_answer) - ord("A") >= len(question.options):
            yield Problem(0, f"checklist[{place}].correct_answer", "a letter of an option", question.correct_answer)


def _shot(one: _Shot) -> PromptShot:
    cut = one.transition_to_next
    return PromptShot(
        number=one.shot_id,
        text=one.description_prompt,
        span=time_range(one.description_prompt),
        camera=one.camera.model_dump(),
        transition=Transition(cut.cinematographic_type, cut.optical_effect, cut.audio_visual_relation, cut.description)
        if cut
        else None,
        thread=one.event_coherence_label,
    )


def _stored(one: _Question) -> Stored:
    options = tuple(re.sub(r"^\s*[A-M]\s*[.．、:)]\s*", "", option) for option in one.options)
    target = "" if one.target_shot_id is None else str(one.target_shot_id)
    return Stored(one.question_id, one.dimension, one.question, options, ord(one.correct_answer) - ord("A"), target)
