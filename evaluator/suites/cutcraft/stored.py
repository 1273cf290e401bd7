"""The stored questions (mode C) and everything else that is answered by choosing an option.

In profile `paper` one token answers and the options stand in an order drawn from the question's id, for in the bank the
right one is nearly always the first (D-22). In `compat` they stand as stored, and a letter is guessed out of free text
(D-12). Nothing here knows which option is right until an answer is there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from evaluator.judge.evidence_text import Fact
from evaluator.judge.prompts import LETTERS
from evaluator.judge.types import Answer, Part, Status
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.data import Stored
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.modes import Wanted
from evaluator.suites.cutcraft.parsing import reference_letter
from evaluator.suites.cutcraft.scene import Scene

ONE_TOKEN, TEXT = "cut_choice", "cut_choice_text"


def order(question: str, count: int, defects: Defects) -> tuple[int, ...]:
    """Places of the stored options in the order in which they are shown."""
    if defects.options_as_stored:
        return tuple(range(count))
    return tuple(sorted(range(count), key=lambda k: hashlib.sha256(f"{question}/{k}".encode()).digest()))


def choice(  # what a question is made of
    scene: Scene,
    item: str,
    text: str,
    options: Sequence[str],
    pictures: Callable[[], tuple[Part, ...]],
    *,
    rubric: str = "",
    facts: Mapping[str, Fact] | None = None,
    sound: Span | bool = False,
    shuffled: str = "",
    told: Mapping[str, object] | None = None,
) -> Wanted:
    """A question with options. `shuffled` names the question whose drawn order the options are shown in."""
    places = order(shuffled, len(options), scene.defects) if shuffled else tuple(range(len(options)))
    shown = [options[place] for place in places]
    form = TEXT if scene.defects.loose_letters else ONE_TOKEN
    data = {"question": text, "option": shown, "shots": scene.found_shots(), **({"rubric": rubric} if rubric else {})}
    cuts = [cut for cut in scene.cuts if cut is not None]
    return Wanted(
        item,
        lambda: scene.asked(form, item, pictures, data, facts, sound, cuts),
        {"question": text, "options": shown, **(told or {}), **({"measured": dict(facts)} if facts else {})},
    )


def picked(wanted: Wanted, answer: Answer, defects: Defects) -> str | None:
    """The option that was chosen; None if the answer is not ok, or (D-12) no letter was found in it."""
    if answer.status is not Status.OK:
        return None
    shown: Sequence[str] = wanted.told["options"]
    letters = LETTERS[: len(shown)]
    letter = reference_letter(str(answer.value), letters) if defects.loose_letters else answer.label
    return shown[letters.index(letter)] if letter is not None else None


def bank(
    scene: Scene,
    dimension: str,
    *,
    rubric: str = "",
    sound: bool = False,
    facts: Mapping[str, Fact] | None = None,
) -> Wanted:
    """The stored question of a dimension about the whole clip."""
    stored = scene.prompt.question(dimension)
    return choice(
        scene,
        f"{dimension}/question",
        stored.text,
        stored.options,
        scene.whole,
        rubric=rubric,
        facts=facts,
        sound=sound,
        shuffled=stored.id,
        told={"stored": stored.id, "right": stored.options[stored.key]},
    )


def bank_score(stored: Stored, wanted: Wanted, answer: Answer, defects: Defects) -> float | None:
    """1 for the right option, 0 for another; None without an answer (in `compat` that is 0)."""
    chosen = picked(wanted, answer, defects)
    if chosen is None:
        return 0.0 if defects.failure_is_half and answer.status in {Status.OK, Status.UNPARSED} else None
    return float(chosen == stored.options[stored.key])
