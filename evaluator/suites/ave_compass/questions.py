"""Checklist questions as profile `paper` asks them: one item, one token, Yes or No (spec 7.1, 7.2).

Audio items hear only sound, video items see only pictures, general items get both. Each dimension has its own rules,
so its own prompt. Its labels stand in the order in which they win a tie: what is undecided is No, but for the response.
Which items can be asked follows from the evidence alone, so that answers are matched to items by asking the same again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import Data, Prompt, load
from evaluator.judge.route import Routed
from evaluator.judge.types import Part, Question
from evaluator.schema import Case
from evaluator.suites.ave_compass.checklist import Checklist, Item, Subdimension, Tag, checklist_of
from evaluator.suites.ave_compass.evidence import Exhibits

PROMPTS: Mapping[Subdimension, str] = {
    Subdimension.RESPONSE: "ave_response",
    Subdimension.CORRECTNESS: "ave_instruction",
    Subdimension.PRESERVATION: "ave_preservation",
    Subdimension.HALLUCINATION: "ave_hallucination",
}
YES = "Yes"

Parts = tuple[Part, ...]


def checklist(case: Case) -> Checklist:
    """The checklist of a case. Raises NotApplicable if it has none."""
    found = checklist_of(case)
    if found is None or not found.items:
        raise NotApplicable("not_applicable", "The case has no checklist.")
    return found


def askable(items: Sequence[Item], exhibits: Exhibits) -> tuple[Item, ...]:
    """The items for which there is anything to show."""
    return tuple(item for item in items if exhibits.perceivable(item.tag))


def ask(case: Case, **needs: Any) -> list[Question | Routed]:
    """One question per item that can be asked, in the order of the checklist. Raises NotApplicable."""
    found, exhibits = checklist(case), Exhibits.of(**needs)
    return [_question(case.id, found, item, exhibits) for item in askable(found.items, exhibits)]


def _question(case: str, found: Checklist, item: Item, exhibits: Exhibits) -> Question | Routed:
    prompt, data = load(PROMPTS[item.subdimension]), {**context(found), "question": item.question}
    place = f"{case}/checklist/{item.id}"
    if item.tag is Tag.VIDEO:
        return prompt.ask(place, exhibits.of_tag(item.tag), data)
    return routed(prompt, place, exhibits.of_tag(item.tag), lambda: exhibits.instead(item.tag), data)


def context(found: Checklist) -> dict[str, str]:
    """What the judge is told about the edit, as data blocks."""
    told = {"edit_type": found.edit_type, "caption": found.caption}
    return {"instruction": found.prompt, **{name: text for name, text in told.items() if text}}


def routed(prompt: Prompt, item: str, native: Parts, instead: Callable[[], Parts], data: Data) -> Routed:
    """The question with what is played, and how it is asked of a judge that cannot hear."""
    return Routed(prompt.ask(item, native, data), lambda: prompt.ask(item, instead(), data, substitute=True))
