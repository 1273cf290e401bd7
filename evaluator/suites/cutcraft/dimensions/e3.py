"""E3: is what the stored question asks about physically possible? Yes or no, with a strict rubric."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.judge.types import Answer, Status
from evaluator.metrics.base import Metric, Outcome
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene

FORM, ITEM = "cut_physics", "E3/question"
LABELS = ("Yes", "No")


def physics_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """The stored question, with sound: some ask when or how something sounds."""
    question = scene.prompt.question("E3")
    data = {"question": question.text, "shots": scene.found_shots()}
    cuts = [one.cut for one in scene.edit.changes]
    told = {"question": question.text, "stored": question.id, "right": right(scene)}
    return [Wanted(ITEM, lambda: scene.asked(FORM, ITEM, scene.whole, data, None, True, cuts), told)]


def right(scene: Scene) -> str:
    """The stored answer, Yes or No. Nearly always Yes (D-22): a judge that always agrees looks good."""
    return LABELS[scene.prompt.question("E3").key]


def score(played: Played) -> Outcome:
    """1 for the stored answer, else 0; `raw` is the probability of the stored answer."""
    scene, answer = played.scene, played.said[ITEM]
    value = required(_correct(scene, answer), played, "The question was not answered.")
    raw = answer.probabilities.get(right(scene)) if answer.probabilities else None
    return Outcome(value, raw, {"items": played.items("E3/")})


def _correct(scene: Scene, answer: Answer) -> float | None:
    if answer.status is Status.OK:
        return float(answer.label == right(scene))
    return 0.0 if scene.defects.failure_is_half and answer.status is Status.UNPARSED else None


DIMENSION = Dimension(
    "E3",
    "Physical plausibility",
    "A stored yes-or-no question about whether what is shown can be.",
    score,
    (physics_stage,),
    (FORM,),
    hears=True,
    version=3,
)


def metric(defects: Defects) -> Metric:
    """E3 of one profile."""
    return card(DIMENSION, defects)
