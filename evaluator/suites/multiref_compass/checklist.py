"""Checklists (section 3.9): items made from prompt and metadata before any video is seen, the same for all systems.

A checklist that breaks the rules is refused with the manifest: an item whose `source_span` is not in the prompt was
invented, and one that a router would not ask is not a demand of this sample. Fixed items (anatomy) and items that
follow from the data alone (exact lines, one per entity) are made here and need no checklist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluator.judge.prompts import LETTERS
from evaluator.manifest.problems import Problem
from evaluator.schema import Case
from evaluator.suites.multiref_compass.data import MultiRefData

Category = Literal["VTF", "ATF", "TOF", "ESM", "SC", "DP", "BC", "SCA", "AQ"]
SUBDIMENSIONS = ("Basic Setting", "Detail", "Action", "Wearing")
COUNTS: Mapping[str, tuple[int, int]] = {"ATF": (1, 3), "TOF": (1, 3), "BC": (1, len(LETTERS))}
"""Category -> least and most items, where there are any."""
SPOKEN = ("says", "speaks", "speech", "voice-over", "voiceover", "dialogue line")
"""Words that an ATF item does not use: it is about non-speech sound."""


class ItemLine(BaseModel):
    """One item as the manifest holds it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=60)
    category: Category
    subdim: str | None = None
    question: str = Field(min_length=1, max_length=2000)
    source_span: str = Field(min_length=1, max_length=2000, description="The words of the prompt that demand it.")


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to grade from 1 to 5."""

    id: str
    question: str
    subdim: str = ""
    entity: int | None = None  # place in the list of entities, if the item is about one


ANATOMY = (
    Item("limbs", "Limbs and hands of people and animals: number, joints, fingers."),
    Item("face", "Faces: features in place, symmetric enough, no melting."),
    Item("proportion", "Body proportions and how bodies bend."),
    Item("objects", "Shapes of objects: whole, plausible, of one piece where they should be."),
    Item("background", "Structure of the background: straight what is straight, nothing that cannot be built."),
    Item("depth", "Depth order and occlusion: what is in front covers what is behind."),
    Item("stability", "Stability over time: nothing changes its form without cause."),
)
"""AQ, section 3.3. An aspect without anything to look at would be left out; here it is graded 5 by the rubric's words,
nothing to fault. What is seen only the judge knows, and an answer of one digit has no room for "nothing". So AQ of
samples without people is higher; a checklist's own AQ items take the place of these.
"""


def lines_of(case: Case) -> list[ItemLine]:
    """The checklist of a case, checked. A case without one has no items."""
    return [ItemLine.model_validate(item) for item in case.checklist or ()]


def items(case: Case, category: str) -> tuple[Item, ...]:
    """The items of one category, in the order of the checklist."""
    return tuple(
        Item(line.id, line.question, line.subdim or "") for line in lines_of(case) if line.category == category
    )


def exact_lines(data: MultiRefData) -> tuple[Item, ...]:
    """SCA: one item per exact line, with speaker, words and language."""
    return tuple(
        Item(
            f"line{number}",
            f"Is exactly this said, by {line.speaker or 'somebody'}, in the language {line.lang}, word for word, with "
            f"nothing left out and nothing added: {line.text}",
        )
        for number, line in enumerate(data.facts.exact_lines, 1)
    )


def examine_items(case: Case, data: MultiRefData) -> Iterable[Problem]:
    """Every rule that the checklist breaks."""
    if case.checklist is None:
        return
    if not isinstance(case.checklist, Sequence) or isinstance(case.checklist, str):
        yield Problem(0, "checklist", "a list of items", type(case.checklist).__name__)
        return
    found: list[ItemLine] = []
    for at, tree in enumerate(case.checklist):
        try:
            found.append(ItemLine.model_validate(tree))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            yield Problem(0, f"checklist[{at}].{where}", "a well-formed item", first["msg"])
    yield from _repeated(found)
    for at, line in enumerate(found):
        yield from _broken(f"checklist[{at}]", line, case, data)
    yield from _counts(found)


def _repeated(found: Sequence[ItemLine]) -> Iterable[Problem]:
    for name, count in Counter(line.id for line in found).items():
        if count > 1:
            yield Problem(0, "checklist", "each item id once", f'"{name}" {count} times')


def _broken(field: str, line: ItemLine, case: Case, data: MultiRefData) -> Iterable[Problem]:
    from evaluator.suites.multiref_compass.routing import not_routed

    if squeezed(line.source_span) not in squeezed(data.whole_prompt(case.prompt)):
        yield Problem(
            0, f"{field}.source_span", "words of the prompt", f'"{line.source_span[:60]}"', "do not invent demands"
        )
    if line.category == "VTF" and line.subdim not in SUBDIMENSIONS:
        yield Problem(0, f"{field}.subdim", f"one of {', '.join(SUBDIMENSIONS)}", f'"{line.subdim}"')
    if line.category == "ATF" and any(word in line.question.lower() for word in SPOKEN):
        yield Problem(0, f"{field}.question", "a question on non-speech sound", "one on speech", "move it to SCA")
    if line.category == "SCA" and not any(
        squeezed(one.text) in squeezed(line.question) for one in data.facts.exact_lines
    ):
        yield Problem(0, f"{field}.question", "one of the exact lines", "none of them", "vague speech makes no item")
    if reason := not_routed(line.category.lower(), case):
        yield Problem(0, field, "an item that applies to the sample", f"{line.category}: {reason}", "remove it")


def _counts(found: Sequence[ItemLine]) -> Iterable[Problem]:
    for category, count in Counter(line.category for line in found).items():
        least, most = COUNTS.get(category, (0, 10_000))
        if not least <= count <= most:
            yield Problem(0, "checklist", f"{least} to {most} items of {category}", str(count))


def squeezed(text: str) -> str:
    """Lower case, white space folded: how words are compared."""
    return " ".join(text.lower().split())
