"""C1: which of the thirteen kinds of montage is it? Mean of a 13-way choice and the stored question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, product

import numpy as np

from evaluator.experts.features import Embeddings
from evaluator.judge.evidence_text import Fact
from evaluator.metrics.arithmetic import cosine
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ClipNeed, ExpertNeed, Need, Sampling
from evaluator.suites.cutcraft import stored
from evaluator.suites.cutcraft.dimensions.a3 import MEANING
from evaluator.suites.cutcraft.dimensions.a4 import sample_times
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.labels import classes
from evaluator.suites.cutcraft.merge import mean_of
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene

ITEM = "C1/montage"
TEXT = "Which kind of montage is this clip?"
TIES = (
    "Two threads that alternate: one subject in both: parallel; different subjects at the same time: crosscut; a sharp "
    "opposition whatever the time: contrast; scenery only: lyrical. One image put in: of the same place: reflexive; of "
    " another place and unrelated: attractions; of another place and related: metaphorical; imagined: psychological. "
    "Question and answer: dialogue. One subject that does the same again: repetition, before parallel and sequential; "
    "subjects that are only alike: accumulative."
)


def rubric() -> str:
    """What each kind is, and how doubtful ones are told apart."""
    return " ".join(f"{name}: {MEANING[name]}." for name in classes("montage")) + " " + TIES


def needs(defects: Defects) -> Mapping[str, Need]:
    """Pictures to compare shots by."""
    sampling = Sampling("stride", (2, 16)) if defects.first_half else Sampling("stride", (2, 64))
    return {"looks": ExpertNeed("clip_image", sampling=sampling), "clip": ClipNeed()}


def montage_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Thirteen kinds, with what experts measured."""
    options, facts = [f"{name} montage" for name in classes("montage")], {**measured(scene), **scene.words()}
    return [stored.choice(scene, ITEM, TEXT, options, scene.whole, rubric=rubric(), facts=facts)]


def question_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """The stored question."""
    return [stored.bank(scene, "C1", rubric=rubric(), facts=scene.words())] if "C1" in scene.prompt.stored else []


def measured(scene: Scene) -> Mapping[str, Fact]:
    """How alike shots are, told without saying which of them belong together.

    Groups of shots are compared picture by picture, so that a long shot weighs more. D-09: the reference's neighbouring
    "shots" are pictures half a second apart. D-10: it looks for shots at the script's times.
    """
    looks: Embeddings = scene.media["looks"]
    times, vectors = sample_times(scene, looks), looks.vectors
    spans = dict(enumerate(scene.prompt.spans)) if scene.defects.prompt_times else dict(scene.present)
    shown = {index: vectors[(times >= a) & (times < b)] for index, (a, b) in sorted(spans.items())}
    shown = {index: own for index, own in shown.items() if len(own)}
    threads = {index: scene.prompt.shots[index].thread for index in shown}
    pairs = [
        (threads[a] == threads[b], cosine(one, other))
        for a, b in combinations(shown, 2)
        for one, other in product(shown[a], shown[b])
    ]
    steps = [cosine(one.mean(axis=0), other.mean(axis=0)) for one, other in pairwise(shown.values())]
    if scene.defects.sample_cosines:
        steps = [cosine(one, other) for one, other in pairwise(vectors[:6])]
    return {
        "shots found": len(scene.edit.segments),
        "cosines of neighbouring shots": ", ".join(f"{step:.3f}" for step in steps[:5]) or None,
        "mean of these cosines": _mean(steps[:5]),
        "mean cosine of shots that the script groups together": _mean([value for same, value in pairs if same]),
        "mean cosine of shots that it keeps apart": _mean([value for same, value in pairs if not same]),
    }


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 3) if values else None


def score(played: Played) -> Outcome:
    """Mean of both halves, or the one that was answered."""
    scene, (montage, said) = played.scene, _montage(played)
    question = _question(played)
    value = required(mean_of(montage, question), played, "The kind of montage was not judged.")
    details = {"wanted": scene.prompt.montage, "said": said, "modes_found": {"B": montage, "C": question}}
    return Outcome(value, details={**details, "items": played.items("C1/")})


def _montage(played: Played) -> tuple[float | None, str | None]:
    """D-13: the reference takes any montage for right whose name stands anywhere in the editing style."""
    scene = played.scene
    option = stored.picked(played.wanted[ITEM], played.said[ITEM], scene.defects)
    if option is None:
        return (0.0 if scene.defects.failure_is_half and played.said[ITEM].status == "ok" else None), None
    name = option.removesuffix(" montage")
    if scene.defects.name_in_prose:
        return float(name.lower() in scene.prompt.editing_style.lower()), name
    return float(name == scene.prompt.montage), name


def _question(played: Played) -> float | None:
    if "C1" not in played.scene.prompt.stored:
        return None
    wanted, question = played.wanted["C1/question"], played.scene.prompt.question("C1")
    return stored.bank_score(question, wanted, played.said["C1/question"], played.scene.defects)


DIMENSION = Dimension(
    "C1",
    "Montage",
    "Which of thirteen kinds of montage a judge sees, with and without the stored options.",
    score,
    (montage_stage, question_stage),
    (stored.ONE_TOKEN, stored.TEXT),
    needs=needs,
    stands_in_for={"image_embedding": "CLIP ViT-L/14"},
    reads_words=True,
    version=2,
)


def metric(defects: Defects) -> Metric:
    """C1 of one profile."""
    return card(DIMENSION, defects)
