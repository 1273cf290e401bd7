"""A2: do the script's events happen, in their order? The judge picks the chain of events, then grades each event.

Events are graded only if the right chain was picked, each in the shot that was found for it. An event whose shot is
missing scores 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from evaluator.judge.types import Status
from evaluator.metrics.base import Metric, Outcome
from evaluator.suites.cutcraft import stored
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.merge import events as mean_of_events
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.scoring import GRADES

FORM = "cut_event"
GRADE = dict(zip("ABC", GRADES, strict=False))
QUESTION = "A2/question"
RUBRIC = (
    "An option is a chain of events in the order in which they happen. If the clip shows only part of a chain, the "
    "chain whose beginning it shows in the right order fits best."
)


def chain_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Which chain of events is shown?"""
    return [stored.bank(scene, "A2", rubric=RUBRIC, facts=scene.words())]


def event_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """How far does each event happen in its shot? Nothing if the wrong chain was picked."""
    if _chain(scene, said) != 1.0:
        return []
    found = [(place, event, _places(scene, place)) for place, event in enumerate(events(scene))]
    return [_event(scene, place, event, spans) for place, event, spans in found if spans]


def events(scene: Scene) -> tuple[str, ...]:
    """The events of the right chain, one per shot of the script."""
    question = scene.prompt.question("A2")
    return tuple(part.strip() for part in re.split(r"\s*-->\s*", question.options[question.key]))


def score(played: Played) -> Outcome:
    """Mean over the events of 1, 0.5, 0.1 or 0; 0 for the wrong chain.

    An event whose shot is there and that the judge did not grade is left out and named (`unanswered`, from 1).
    """
    scene, names = played.scene, events(played.scene)
    chain = required(_chain(scene, played.said), played, "The question about the chain of events was not answered.")
    details = {"chain": chain, "events": list(names), "items": played.items("A2/")}
    if chain == 0.0:
        return Outcome(0.0, details=details)
    grades = [_grade(played, place) for place in range(len(names))]
    known = [grade for grade, lost in grades if not lost]
    value = required(mean_of_events(known) if known else None, played, "No event was graded.")
    unanswered = [place + 1 for place, (_, lost) in enumerate(grades) if lost]
    return Outcome(value, details={**details, "grades": [grade for grade, _ in grades], "unanswered": unanswered})


def _grade(played: Played, place: int) -> tuple[float | None, bool]:
    """(grade, None for a missing shot; whether a shot is there and the judge gave no grade)."""
    if not _places(played.scene, place):
        return None, False
    answer = played.said[f"A2/event/{place + 1}"]
    if answer.status is Status.OK and answer.label is not None:
        return GRADE[answer.label], False
    unparsed = played.scene.defects.failure_is_half and answer.status is Status.UNPARSED
    return (GRADES[2], False) if unparsed else (None, True)


def _chain(scene: Scene, said: Said) -> float | None:
    question = scene.prompt.question("A2")
    return stored.bank_score(question, chain_stage(scene, said)[0], said[QUESTION], scene.defects)


def _places(scene: Scene, place: int) -> tuple[Span, ...]:
    return scene.places(place) if place < len(scene.alignment.shots) else ()


def _event(scene: Scene, place: int, event: str, spans: tuple[Span, ...]) -> Wanted:
    item, words = f"A2/event/{place + 1}", scene.words(*spans)
    told = {"question": event, "shot": place + 1, "spans": [list(span) for span in spans]}
    return Wanted(
        item,
        lambda: scene.asked(FORM, item, lambda: scene.part("shot", *spans), {"event": event}, words),
        {**told, **({"measured": dict(words)} if words else {})},
    )


DIMENSION = Dimension(
    "A2",
    "Event chain",
    "Whether the script's events happen in their order, graded by a judge shot by shot.",
    score,
    (chain_stage, event_stage),
    (stored.ONE_TOKEN, stored.TEXT, FORM),
    reads_words=True,
    version=3,
)


def metric(defects: Defects) -> Metric:
    """A2 of one profile."""
    return card(DIMENSION, defects)
