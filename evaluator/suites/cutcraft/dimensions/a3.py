"""A3: does one shot follow from another, or could they stand in any order? A question and a counterfactual.

Each thread of the script (shots with one coherence label) that has two shots is shown in its order and in reversed
order, without sound; the judge says of every cut whether it goes forward, backward or either way. If threads alternate,
it says too whether their changes have a reason. One question per cut, each answered with one token; the reference asks
for a list of all cuts of a sequence at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from evaluator.judge.types import Status
from evaluator.metrics.base import Metric, Outcome
from evaluator.suites.cutcraft import stored
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.merge import mean_of
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.scoring import LAMBDA, causality, chain_score, threads_score

DIRECTION, THREADS, MOTIVATED = "cut_direction", "cut_threads", "cut_motivated"
FORWARD = {"A": 1.0, "B": 0.5, "C": 0.0}
WHOLE = {"A": 1.0, "B": 0.5, "C": 0.0}
ORDER_FREE = frozenset({"Lyrical", "Contrast", "Attractions", "Metaphorical", "Reflexive"})
"""Montages whose threads relate by likeness, so that reversing them proves nothing."""
MEANING: Mapping[str, str] = {
    "Sequential": "steps of one action in the order of time",
    "Parallel": "threads that share a subject and run side by side, perhaps in other times or places",
    "Crosscut": "different subjects at the same time, whose threads press on one another",
    "Repetition": "the same subject does the same again, each time with more weight",
    "Dialogue": "question and answer, look and counter-look",
    "Lyrical": "scenery and mood between actions that say what is felt",
    "Psychological": "what somebody remembers, dreams or imagines",
    "Metaphorical": "an image from elsewhere that stands for what happens",
    "Contrast": "opposites set against each other",
    "Accumulative": "many similar images that add up",
    "Attractions": "a foreign image thrown in for its force",
    "Reflexive": "something of the same place that comments on what happens",
    "Ideological": "images ordered as an argument",
}


@dataclass(frozen=True, slots=True)
class Order:
    """Shots put one after the other, and the seconds at which they meet."""

    name: str
    shots: tuple[int, ...]  # from 0
    spans: tuple[Span, ...]

    @property
    def cuts(self) -> list[float]:
        """Seconds on the sequence's own clock."""
        ends, at = [], 0.0
        for low, high in self.spans[:-1]:
            at += high - low
            ends.append(at)
        return ends

    def reversed(self) -> Order:
        """The same shots from the last to the first, each of them playing forward."""
        return Order(self.name.replace("forward", "reversed"), self.shots[::-1], self.spans[::-1])


def threads(scene: Scene) -> dict[int, list[tuple[int, Span]]]:
    """Thread -> its shots that were found, by the time at which they begin."""
    found: dict[int, list[tuple[int, Span]]] = {}
    for index, span in scene.present:
        found.setdefault(scene.prompt.shots[index].thread, []).append((index, span))
    return {thread: sorted(own, key=lambda one: one[1]) for thread, own in found.items()}


def chains(scene: Scene) -> list[Order]:
    """Threads of at least two shots, in their order."""
    return [_sequence(f"A3/chain{thread}/forward", own) for thread, own in threads(scene).items() if len(own) >= 2]


def interleaved(scene: Scene) -> Order | None:
    """All shots that were found, by time, if they belong to several threads."""
    if len(threads(scene)) < 2:
        return None
    return _sequence("A3/threads/forward", sorted(scene.present, key=lambda one: one[1]))


def changes(scene: Scene, whole: Order) -> list[int]:
    """Cuts of a sequence at which the thread changes."""
    labels = [scene.prompt.shots[index].thread for index in whole.shots]
    return [place for place, (a, b) in enumerate(pairwise(labels)) if a != b]


def question_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """The stored question."""
    return [stored.bank(scene, "A3", facts=scene.words())] if "A3" in scene.prompt.stored else []


def counterfactual_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Every cut of every chain in both orders, and every change of thread."""
    asked = [cut for chain in chains(scene) for way in (chain, chain.reversed()) for cut in _directions(scene, way)]
    whole = interleaved(scene)
    if whole is None:
        return asked
    ways = [whole] if scene.prompt.montage in ORDER_FREE else [whole, whole.reversed()]
    return [*asked, *(one for way in ways for one in _relations(scene, way))]


def score(played: Played) -> Outcome:
    """Half the question, half the counterfactual; one alone where the other was not answered.

    A clip in which fewer than two of the script's shots were found has no order: its counterfactual is 0 (spec 7),
    which alone is no score where the question was asked and not answered.
    """
    scene = played.scene
    question = _question(played)
    found = [(chain, *_both(played, chain)) for chain in chains(scene)]
    intra = [chain_score(there, back) for _, there, back in found if there is not None and back is not None]
    inter = _threads(played)
    counterfactual = mean_of(fmean(intra) if intra else None, inter)
    orderless = len(scene.present) < min(2, len(scene.prompt.shots))
    known = question is not None or "A3" not in scene.prompt.stored
    if counterfactual is None and known and (orderless or scene.defects.failure_is_half):
        counterfactual = 0.0
    value = required(causality(question, counterfactual), played, "No two shots of a thread are there to compare.")
    wanted = {shot.thread for shot in scene.prompt.shots}
    return Outcome(
        value,
        details={
            "question": question,
            "counterfactual": counterfactual,
            "lambda": LAMBDA,
            "chains": [
                {"shots": [index + 1 for index in chain.shots], "forward": there, "reversed": back}
                for chain, there, back in found
            ],
            "threads": inter,
            "threads_parts": _parts(played),
            "collapsed": len(wanted) >= 2 and len(threads(scene)) < 2,
            "items": played.items("A3/"),
        },
    )


def _sequence(name: str, own: Sequence[tuple[int, Span]]) -> Order:
    return Order(name, tuple(index for index, _ in own), tuple(span for _, span in own))


def _directions(scene: Scene, way: Order) -> list[Wanted]:
    return [_cut(scene, way, place, DIRECTION, {}) for place in range(len(way.cuts))]


def _relations(scene: Scene, way: Order) -> list[Wanted]:
    """What the changes of thread achieve together, then one question per change."""
    montage = f"{scene.prompt.montage} montage: {MEANING[scene.prompt.montage]}."
    text = "; ".join(
        f"{start:.1f} s: thread {scene.prompt.shots[index].thread + 1}"
        for index, start in zip(way.shots, (0.0, *way.cuts), strict=True)
    )
    item = f"{way.name}/whole"
    whole = Wanted(
        item,
        lambda: scene.asked(THREADS, item, lambda: scene.sequence(way.spans), {"montage": montage, "sequence": text}),
        {"question": montage, "shots": [index + 1 for index in way.shots]},
    )
    return [whole, *(_cut(scene, way, place, MOTIVATED, {"montage": montage}) for place in changes(scene, way))]


def _cut(scene: Scene, way: Order, place: int, form: str, data: Mapping[str, str]) -> Wanted:
    item, second = f"{way.name}/{place + 1}", way.cuts[place]
    text = f"cut {place + 1} of {len(way.cuts)}, at {second:.2f} s"
    if form == MOTIVATED:
        before, after = (scene.prompt.shots[way.shots[k]].thread + 1 for k in (place, place + 1))
        text += f", from thread {before} to thread {after}"
    return Wanted(
        item,
        lambda: scene.asked(form, item, lambda: scene.sequence(way.spans), {**data, "cut": text}),
        {"question": text, "shots": [way.shots[place] + 1, way.shots[place + 1] + 1]},
    )


def _question(played: Played) -> float | None:
    if "A3" not in played.scene.prompt.stored:
        return None
    wanted, question = played.wanted["A3/question"], played.scene.prompt.question("A3")
    return stored.bank_score(question, wanted, played.said["A3/question"], played.scene.defects)


def _both(played: Played, chain: Order) -> tuple[float | None, float | None]:
    """Mean direction in order and in reversed order."""
    return _direction(played, chain), _direction(played, chain.reversed())


def _direction(played: Played, way: Order) -> float | None:
    found = [FORWARD[one.label] for one in played.answers(f"{way.name}/") if one.label in FORWARD]
    return fmean(found) if found else None


def _threads(played: Played) -> float | None:
    there, back = _parts(played)
    if there is None or played.scene.prompt.montage in ORDER_FREE:
        return there
    return chain_score(there, back) if back is not None else None


def _parts(played: Played) -> tuple[float | None, float | None]:
    """What going back and forth achieves, in order and in reversed order; None where it was not asked or said."""
    whole = interleaved(played.scene)
    if whole is None:
        return None, None
    return _related(played, whole), _related(played, whole.reversed())


def _related(played: Played, way: Order) -> float | None:
    answer: Any = played.said.get(f"{way.name}/whole")
    if answer is None or answer.status is not Status.OK:
        return None
    reasons = [
        played.said[f"{way.name}/{place + 1}"].label == "Yes"
        for place in changes(played.scene, way)
        if played.said[f"{way.name}/{place + 1}"].status is Status.OK
    ]
    return threads_score(WHOLE[answer.label], reasons, len(changes(played.scene, way)))


DIMENSION = Dimension(
    "A3",
    "Causal coherence",
    "Whether shots follow from one another: a stored question and the clip with its shots reversed.",
    score,
    (question_stage, counterfactual_stage),
    (stored.ONE_TOKEN, stored.TEXT, DIRECTION, THREADS, MOTIVATED),
    reads_words=True,
    version=2,
)


def metric(defects: Defects) -> Metric:
    """A3 of one profile."""
    return card(DIMENSION, defects)
