"""What MultiRef-Compass knows of a case: board, entities with their reference views, prompt parts, routing facts.

Spec section 1.3. Reference files are the case's `references`: pictures with the role `view` and the entity's id, at
most one clip with the role `ref_video`, and voices with the role `ref_audio` and their speaker.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluator.judge.prompts import LETTERS
from evaluator.manifest.problems import Problem
from evaluator.schema import Case

BOARDS = ("B1", "B2", "B3", "B4")
VIEW, REF_VIDEO, REF_AUDIO = "view", "ref_video", "ref_audio"
KINDS = {VIEW: ("image", "video"), REF_VIDEO: ("video",), REF_AUDIO: ("audio",)}
"""Role -> kinds of file. A view that is a clip shows its first frame."""
MOST_VOICES = 8
"""Reference voices of one case."""
MOST_ENTITIES = len(LETTERS)
"""Entities of one case: a judge knows each by a letter. The published samples have at most seven pictures."""

Text = Annotated[str, Field(min_length=1, max_length=8000)]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Entity(Strict):
    """Something that the output has to show as its reference views do."""

    entity_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,30}$")]
    kind: Literal["human", "animal", "object", "scene"]
    name: Text
    slot: int = Field(1, ge=1, le=3)


class Line(Strict):
    """Words that have to be said exactly."""

    speaker: str
    text: Text
    lang: Annotated[str, Field(pattern=r"^[a-z]{2,3}$", description="ISO 639-1: en, zh ...")]


class PromptParts(Strict):
    """The prompt by what it is about; the whole of it is the case's `prompt`."""

    video: str | None = None
    audio: str | None = None
    speech: str | None = None


class Facts(Strict):
    """What the router asks (section 2)."""

    speech: Literal["none", "monologue", "dialogue", "voiceover"] = "none"
    exact_lines: list[Line] = []
    sfx: bool = False
    ambience: bool = False
    music: bool = False
    silence: bool = False
    multi_shot: bool = False
    ordered_actions: bool = False
    appearance_constraints: bool = False


class MultiRefData(Strict):
    """`data{}` of a case of this suite."""

    sample: Text = Field(description="Equal for the outputs of all systems.")
    board: Literal["B1", "B2", "B3", "B4"]
    style: Literal["real", "cartoon"] = "real"
    entities: list[Entity] = Field(min_length=1, max_length=MOST_ENTITIES)
    parts: PromptParts = PromptParts()
    facts: Facts = Facts()

    def whole_prompt(self, prompt: str) -> str:
        """All that was asked for, one part a line."""
        return "\n".join(part for part in (prompt, self.parts.video, self.parts.audio, self.parts.speech) if part)


def of(case: Case) -> MultiRefData:
    """The checked data of a case."""
    return MultiRefData.model_validate(dict(case.data))


def views(case: Case, entity_id: str) -> list[str]:
    """Roles of the pictures of an entity, in the order of the references."""
    return [
        f"reference:{at}" for at, item in enumerate(case.references) if item.role == VIEW and item.entity == entity_id
    ]


def voices(case: Case) -> list[str]:
    """Roles of the reference voices."""
    return [f"reference:{at}" for at, item in enumerate(case.references) if item.role == REF_AUDIO]


def reference_video(case: Case) -> str | None:
    """Role of the reference clip."""
    return next((f"reference:{at}" for at, item in enumerate(case.references) if item.role == REF_VIDEO), None)


def visual(case: Case) -> bool:
    """Whether any reference can be seen."""
    return any(item.role in {VIEW, REF_VIDEO} for item in case.references)


def examine(case: Case) -> Iterable[Problem]:
    """Entities and references name each other; kinds fit roles; checklist and preferences obey their rules."""
    from evaluator.suites.multiref_compass.checklist import examine_items
    from evaluator.suites.multiref_compass.preferences import examine_preferences

    if not case.prompt.strip():
        yield Problem(0, "prompt", "the prompt that all systems got", "nothing")
    data = of(case)
    known = Counter(entity.entity_id for entity in data.entities)
    for name, count in known.items():
        if count > 1:
            yield Problem(0, "data.entities", "each entity_id once", f'"{name}" {count} times')
    yield from _references(case, set(known))
    yield from examine_items(case, data)
    yield from examine_preferences(case)


def _references(case: Case, known: set[str]) -> Iterable[Problem]:
    roles = Counter(item.role for item in case.references)
    for at, item in enumerate(case.references):
        field = f"references[{at}]"
        if item.role not in KINDS:
            yield Problem(0, f"{field}.role", f"one of {', '.join(KINDS)}", f'"{item.role}"')
        elif item.kind not in KINDS[item.role]:
            yield Problem(0, f"{field}.kind", f"{' or '.join(KINDS[item.role])} for the role {item.role}", item.kind)
        if item.role == VIEW and item.entity not in known:
            yield Problem(0, f"{field}.entity", f"one of the entities {', '.join(sorted(known))}", f'"{item.entity}"')
    if roles[REF_AUDIO] > MOST_VOICES:
        yield Problem(0, "references", f"at most {MOST_VOICES} ref_audio", str(roles[REF_AUDIO]))
    if roles[REF_VIDEO] > 1:
        yield Problem(0, "references", "at most one ref_video", str(roles[REF_VIDEO]))
