"""Checklists of schema `checklist_v2` (spec 1.4): items with their dimension and modality, and what makes one unusable.

Spellings that the reference accepts are folded to one. Rules about good checklists are `checklist_rules`; here is only
what an item needs to be asked and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from evaluator.manifest.problems import Problem, quoted
from evaluator.schema import Case


class Dimension(StrEnum):
    """What an item is counted under. The word is that of the published files."""

    ER = "Edit Response"
    IF = "Instruction Following"
    FP = "Fidelity"  # printed as Fidelity Preserving


class Subdimension(StrEnum):
    """What an item asks about; decides its dimension."""

    RESPONSE = "edit_response"
    CORRECTNESS = "instruction_correctness"
    PRESERVATION = "non_edit_preservation"
    HALLUCINATION = "hallucination_control"


class Tag(StrEnum):
    """What an item is judged by: pictures without sound, sound without pictures, or both."""

    VIDEO = "video"
    AUDIO = "audio"
    GENERAL = "general"


DIMENSION: Mapping[Subdimension, Dimension] = {
    Subdimension.RESPONSE: Dimension.ER,
    Subdimension.CORRECTNESS: Dimension.IF,
    Subdimension.PRESERVATION: Dimension.FP,
    Subdimension.HALLUCINATION: Dimension.FP,
}
_DIMENSIONS = {
    **{dimension.lower(): dimension for dimension in Dimension},
    "response": Dimension.ER,
    "instruction correctness": Dimension.IF,
    **dict.fromkeys(
        (
            "fidelity preserving",
            "fidelity and preservation",
            "fidelity & preservation",
            "fidelity preservation",
        ),
        Dimension.FP,
    ),
}
_SUBDIMENSIONS = {
    **{subdimension.value: subdimension for subdimension in Subdimension},
    "response": Subdimension.RESPONSE,
    "instruction_following": Subdimension.CORRECTNESS,
    "fidelity": Subdimension.PRESERVATION,
    "fidelity_preserving": Subdimension.PRESERVATION,
    "hallucination": Subdimension.HALLUCINATION,
}
_TAGS = {
    **{tag.value: tag for tag in Tag},
    **dict.fromkeys(("visual", "vision"), Tag.VIDEO),
    **dict.fromkeys(("av", "audio_visual", "audiovisual"), Tag.GENERAL),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to say about a checklist or a caption: the rule, error or warning, where, and what."""

    rule: str  # C01 .. C26 of spec 6.2, D1 .. for the dedup pass, K1 .. for captions
    level: Literal["E", "W"]
    place: str  # a question id or a field; empty for the whole
    message: str

    def shown(self) -> str:
        """One line."""
        return f"{self.rule} {self.level}: {self.place + ': ' if self.place else ''}{self.message}"


@dataclass(frozen=True, slots=True)
class Item:
    """One question."""

    id: str
    dimension: Dimension
    subdimension: Subdimension
    tag: Tag
    question: str


@dataclass(frozen=True, slots=True)
class Checklist:
    """A checklist that can be judged. `caption` describes the source, `prompt` is the instruction."""

    items: tuple[Item, ...]
    caption: str = ""
    prompt: str = ""
    edit_type: str = ""
    category: str = ""  # as it is written

    def of(self, *tags: Tag) -> tuple[Item, ...]:
        """The items with one of these tags, in order."""
        return tuple(item for item in self.items if item.tag in tags)


def checklist_of(case: Case) -> Checklist | None:
    """The checklist of a case that was read without a problem; None if it has none."""
    return None if case.checklist is None else read(tree_of(case), case.prompt)[0]


def tree_of(case: Case) -> Any:
    """The checklist as one object. A list written into a manifest is taken for its questions."""
    found = case.checklist
    return {"questions": list(found)} if isinstance(found, tuple | list) else found


def read(tree: Any, prompt: str = "") -> tuple[Checklist, list[Finding]]:
    """The usable items, and everything that keeps others from being used (rules C01, C04, C05, C06).

    `prompt` is taken where the checklist names no instruction of its own.
    """
    if not isinstance(tree, Mapping):
        return Checklist(()), [Finding("C01", "E", "", f"expected an object, found {quoted(tree)}")]
    questions = tree.get("questions")
    if not isinstance(questions, list) or not questions:
        return Checklist(()), [Finding("C01", "E", "questions", "expected a list with at least one question")]
    findings: list[Finding] = []
    items = [item for place, one in enumerate(questions, 1) if (item := _item(place, one, findings)) is not None]
    findings += _repeated(items)
    words = {name: _text(tree.get(name)) for name in ("caption", "edit_prompt", "edit_type", "edit_category")}
    return (
        Checklist(
            tuple(items), words["caption"], words["edit_prompt"] or prompt, words["edit_type"], words["edit_category"]
        ),
        findings,
    )


def examine(case: Case) -> Iterable[Problem]:
    """What makes the checklist of a case unusable. A case without one is not judged, which is no problem."""
    if case.checklist is None:
        return ()
    return [
        Problem(0, f"checklist {finding.place}".strip(), "a checklist_v2 that can be judged", finding.message)
        for finding in read(tree_of(case), case.prompt)[1]
    ]


# ------------------------------------------------------------------------------------------------------ one item


def _item(place: int, tree: Any, findings: list[Finding]) -> Item | None:
    """The item, or None and at least one finding."""
    name = f"Q{place:02d}"
    if not isinstance(tree, Mapping):
        findings.append(Finding("C01", "E", name, f"expected an object, found {quoted(tree)}"))
        return None
    name = _text(tree.get("question_id")) or name
    question = _text(tree.get("question"))
    found = [] if question else [Finding("C01", "E", name, "the question is empty")]
    subdimension = _SUBDIMENSIONS.get(_text(tree.get("subdimension")).lower().replace("-", "_").replace(" ", "_"))
    if subdimension is None:
        found.append(Finding("C05", "E", name, f"unknown subdimension {quoted(tree.get('subdimension'))}"))
    found += _dimension_findings(name, tree.get("dimension"), subdimension)
    tag = _TAGS.get(_text(tree.get("modality_tag")).lower().replace("-", "_"))
    if tag is None:
        found.append(Finding("C06", "E", name, f"unknown modality {quoted(tree.get('modality_tag'))}"))
    findings += found
    if found or subdimension is None or tag is None:
        return None
    return Item(name, DIMENSION[subdimension], subdimension, tag, question)


def _dimension_findings(name: str, written: Any, subdimension: Subdimension | None) -> Iterator[Finding]:
    """An empty dimension is filled from the subdimension; one that disagrees with it is an error."""
    text = _text(written)
    if not text:
        return
    dimension = _DIMENSIONS.get(text.lower())
    if dimension is None:
        yield Finding("C05", "E", name, f"unknown dimension {quoted(written)}")
    elif subdimension is not None and dimension is not DIMENSION[subdimension]:
        yield Finding("C05", "E", name, f"dimension {dimension} does not hold the subdimension {subdimension}")


def _repeated(items: Sequence[Item]) -> Iterator[Finding]:
    for name, count in Counter(item.id for item in items).items():
        if count > 1:
            yield Finding("C04", "E", name, f"the id is given {count} times")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
