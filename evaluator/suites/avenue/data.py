"""What AVENUE knows of a case: its scope, what had to change, what had to stay, and the clips that it is matched with.

Spec section 1.1. Edit types are open words: twelve exist and five are named, so nothing here counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evaluator.manifest.problems import Problem
from evaluator.schema import Case

Scope = Literal["A", "B", "C"]
Text = Annotated[str, Field(min_length=1, max_length=4000)]
Modality = Literal["audio", "video"]

AUDIO, VIDEO = "audio", "video"
EDITED: dict[str, tuple[str, ...]] = {"A": (AUDIO,), "B": (VIDEO,), "C": (VIDEO, AUDIO)}
"""Scope -> what the edit may touch."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PerModality(Strict):
    """A prompt that describes each modality apart."""

    audio: Text | None = None
    video: Text | None = None


class Elements(Strict):
    """Elements that had to stay, per modality."""

    audio: list[Text] = []
    video: list[Text] = []


class Trigger(Strict):
    """CMTG (section 2.4): the event in the other modality that the edit had to wait for."""

    modality: Modality
    description: Text
    intervals: list[tuple[float, float]] = []

    @model_validator(mode="after")
    def _rising(self) -> Trigger:
        edges = [edge for interval in self.intervals for edge in interval]
        if any(end < start for start, end in self.intervals) or edges != sorted(edges) or min(edges, default=0) < 0:
            raise ValueError("intervals that rise and do not overlap")
        return self


class Matched(Strict):
    """What the outputs of one instance have in common (section 1.3). Filled in by the run; give it to pin it."""

    seconds: float = Field(gt=0, description="The shortest stream of any output of the instance, and of the source.")
    frames: int = Field(ge=1, description="Frames of the source within these seconds.")
    span: float = Field(ge=0, description="Seconds from the first of these frames to the last.")
    systems: list[str] = Field(description="Whose outputs set the duration.")


class AvenueData(Strict):
    """`data{}` of a case of this suite."""

    instance: Text = Field(description="(clip, instruction): equal for the outputs of all systems.")
    scope: Scope
    edit_type: Text
    subtype: Literal["C1", "C2", "C3", "C4", "C5"] | None = None
    semantic_category: str = ""
    paradigm: str = Field("", description="joint, sequential, separate, audio ... (section 2.2), an open word.")
    condition: str = Field("", description="For example source_video, where the video edit was bypassed.")
    source_prompt: PerModality | Text | None = None
    target_prompt: PerModality | Text | None = None
    what_changed: Text | list[Text]
    what_preserved: Elements | Text | list[Text] = Elements()
    null_edit: bool = Field(False, description="The target prompt is the source prompt: nothing may change.")
    trigger: Trigger | None = None
    matched: Matched | None = None

    @model_validator(mode="after")
    def _subtype_of_c(self) -> AvenueData:
        if self.subtype and self.scope != "C":
            raise ValueError("a subtype for scope C only")
        return self

    @model_validator(mode="after")
    def _trigger_elsewhere(self) -> AvenueData:
        if self.trigger and self.trigger.modality in EDITED[self.scope]:
            raise ValueError("a trigger in the modality that the edit leaves alone: video for scope A, audio for B")
        return self


def of(case: Case) -> AvenueData:
    """The checked data of a case."""
    return AvenueData.model_validate(dict(case.data))


def lines(value: str | Sequence[str]) -> str:
    """One text of one or several entries, each on a line of its own."""
    return value if isinstance(value, str) else "\n".join(value)


def prompt(value: PerModality | str | None, modality: str) -> str | None:
    """What a prompt says of one modality; a prompt that is one text says it of both."""
    return getattr(value, modality) if isinstance(value, PerModality) else value


def preserved(data: AvenueData, modality: str) -> str | None:
    """The listed elements of a modality that had to stay; None if there are none.

    A list or text that does not tell modalities apart is taken for both, in one item (section 1.1).
    """
    value = data.what_preserved
    if isinstance(value, Elements):
        value = getattr(value, modality)
    return lines(value) or None


def examine(case: Case) -> Iterable[Problem]:
    """An edit needs its source and its instruction; a rival in a pairwise case is a clip with a name."""
    if case.source is None:
        yield Problem(0, "source", "the clip that was edited", "nothing", "every AVENUE case compares with its source")
    if not case.prompt.strip():
        yield Problem(0, "prompt", "the editing instruction", "nothing")
    rivals = [item for item in case.references if item.role == "rival"]
    if case.references and (len(case.references) > 1 or not rivals):
        yield Problem(0, "references", "at most one, with the role rival", f"{len(case.references)} references")
    for rival in rivals:
        if rival.kind != "video" or not rival.entity or rival.entity == case.system:
            found = f"kind {rival.kind}, entity {rival.entity!r}"
            yield Problem(0, "references[0]", "a video whose entity names another system", found)
