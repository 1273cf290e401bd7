"""How the five grades of realism are asked for: one token each (`paper`), or all in one JSON answer (`compat`).

The edited clip alone is shown. Grades of the picture see no sound, cleanness of the sound sees no picture, and their
fit needs both. A clip without a sound track is not asked about its sound (spec 7.9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.judge.prompts import load
from evaluator.judge.route import Routed
from evaluator.judge.types import Answer, Question, Status
from evaluator.schema import Case
from evaluator.suites.ave_compass.checklist import checklist_of
from evaluator.suites.ave_compass.evidence import Exhibits
from evaluator.suites.ave_compass.questions import routed
from evaluator.suites.ave_compass.realism import SOUND, VISUAL, Grades, grade

ASPECTS: Mapping[str, str] = {
    "object_integrity": "Form and existence of people and things: structure, texture and identity hold; nothing melts, "
    "flickers, appears or vanishes without cause. Leaving the picture or being covered is no flaw.",
    "interaction_physics": "Weight, contact, collision, liquids, cutting, breaking, pouring and support behave as they "
    "do in the world, and actions have their effects.",
    "naturalness": "The clip looks like real or coherently styled footage: light, shadow, colour and style belong "
    "together, without seams, warping, flicker or jitter.",
    "AAS": "How clean the sound is: free of clipping, static, gaps, and robotic or distorted parts.",
}
"""What is graded, in the words that the judge reads; MTC has a prompt of its own, because it may not apply."""
PAPER, MATERIAL, COMPAT = "ave_realism", "ave_material", "ave_compat_realism"


def aspects(exhibits: Exhibits) -> tuple[str, ...]:
    """What can be graded of this clip."""
    return (*VISUAL, *(SOUND if _heard(exhibits) else ()))


def ask(case: Case, **needs: Any) -> list[Question | Routed]:
    """One question per aspect. Raises NotApplicable for a clip without pictures."""
    exhibits = _exhibits(needs)
    return [_question(case, exhibits, name) for name in aspects(exhibits)]


def grades(exhibits: Exhibits, answers: Sequence[Answer]) -> tuple[Grades, dict[str, Answer]]:
    """(grades, what was answered) by aspect. A grade is None if the answer says that the aspect does not apply, and
    missing if there is none."""
    given = dict(zip(aspects(exhibits), answers, strict=True))
    found = {name: grade(answer.label) for name, answer in given.items() if answer.status is Status.OK}
    return found, given


def ask_at_once(case: Case, **needs: Any) -> list[Question | Routed]:
    """The reference's one question."""
    exhibits, prompt = _exhibits(needs), load(COMPAT)
    place, data = f"{case.id}/realism", _context(case)
    if not _heard(exhibits):
        return [prompt.ask(place, exhibits.target_pictures, data)]
    native = (*exhibits.target_pictures, *exhibits.sounds)
    return [routed(prompt, place, native, lambda: (*exhibits.target_pictures, *exhibits.sounds_in_words), data)]


def grades_at_once(exhibits: Exhibits, answers: Sequence[Answer]) -> tuple[Grades, dict[str, Answer]]:
    """The same from the reference's answer."""
    (answer,) = answers
    given = dict.fromkeys((*VISUAL, *SOUND), answer)
    if answer.status is not Status.OK:
        return {}, given
    found = {name: grade(answer.value[name]) for name in given}
    return {name: value if name in VISUAL or _heard(exhibits) else None for name, value in found.items()}, given


# ------------------------------------------------------------------------------------------------------- pieces


def _exhibits(needs: Mapping[str, Any]) -> Exhibits:
    found = Exhibits.of(**needs)
    if found.frames is None:
        raise NotApplicable("not_applicable", "The edited clip has no pictures to grade.")
    return found


def _heard(exhibits: Exhibits) -> bool:
    return exhibits.sound is not None and not exhibits.sound.missing


def _question(case: Case, exhibits: Exhibits, name: str) -> Question | Routed:
    place, pictures = f"{case.id}/realism/{name}", exhibits.target_pictures
    if name == "MTC":
        native = (*pictures, *exhibits.sounds)
        return routed(load(MATERIAL), place, native, lambda: (*pictures, *exhibits.sounds_in_words), _context(case))
    data = {**_context(case), "aspect": ASPECTS[name]}
    if name in VISUAL:
        return load(PAPER).ask(place, pictures, data)
    return routed(load(PAPER), place, exhibits.sounds, lambda: exhibits.sounds_in_words, data)


def _context(case: Case) -> dict[str, str]:
    """The instruction of the case and the caption of its checklist (spec 1.6)."""
    found = checklist_of(case)
    told = {"instruction": case.prompt, "caption": found.caption if found else ""}
    return {name: text for name, text in told.items() if text}
