"""D1: is every transition of the kind that was asked for? Half measured or judged one by one, half a question.

Graphic match, match on action, sound match and contrast cut are measured; the other kinds are put to the judge as yes
or no with what experts measured around the cut. A transition one of whose shots is missing, or of a kind that nobody
can say anything about, counts 0; one about which the judge was asked and gave no answer is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evaluator.experts.features import AudioTags, Embeddings
from evaluator.judge.evidence_text import Fact
from evaluator.judge.types import Status
from evaluator.metrics.arithmetic import clip01, cosine
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import ExpertNeed, FramesNeed, Sampling
from evaluator.suites.cutcraft import labels, merge, motion, screen_text, stored
from evaluator.suites.cutcraft.cut_scores import contrast_cut, graphic_match, sound_match, visual_match
from evaluator.suites.cutcraft.dimensions.a4 import look_needs, sample_times
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.flow import moved
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.scene import Scene

FORM = "cut_transition"
HALVES = ExpertNeed("clip_image", sampling=Sampling("stride", (2, 16)))
"""Pictures half a second apart, from the first on (D-09)."""
MEASURED = frozenset({"graphic match", "match on action", "sound match", "contrast cut"})
RUBRICS: Mapping[str, str] = {
    "logical cut": "What is seen after the cut is a consequence of what is seen before it, or answers it.",
    "pov cut": "Before the cut somebody looks at something; after it we see what that person sees, from there.",
    "exit-and-entry": "Somebody or something leaves the picture before the cut and enters the next one after it.",
    "wipe-by": "Something in front covers the picture just before the cut, and the next shot comes from behind it.",
    "empty shot": "One side of the cut is scenery or a detail without the acting persons, put in between.",
    "gilligan cut": "Before the cut somebody rules something out, after it exactly that is seen.",
    "whip-pan": "The camera turns so fast that the picture smears, and the next shot comes out of that movement.",
    "extreme scale cut": "A very wide and a very close framing meet at the cut.",
}
"""Kinds that a judge decides, and what makes them. Smash cuts and eye-line matches are never scored (spec 7)."""
WRITTEN = frozenset({"empty shot", "logical cut", "gilligan cut", "pov cut"})
"""Kinds that what is written on screen may decide: on an insert, as a cause or a punch line, as what somebody reads."""
WHIP = 100.0
"""What the reference tells the judge to compare with: pixels of flow."""
RUBRIC = (
    "A match on action goes on with one movement; a graphic match keeps shape, colour or place; a sound match keeps a "
    "sound; a logical cut keeps only a reason; a cutaway leaves the persons; a point-of-view cut shows what somebody "
    "looks at."
)


def transition_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """One question per transition that a judge decides and whose shots are there."""
    asked = []
    for place, (cut, kind) in enumerate(zip(scene.cuts, kinds(scene), strict=True)):
        # D-15: the reference has no words for a Gilligan cut; it raises, which counts 0
        wordless = kind == "gilligan cut" and scene.defects.unknown_transition_fails
        if cut is not None and kind in RUBRICS and not wordless:
            asked.append(_question(scene, place, cut, kind))
    return asked


def bank_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """The stored question."""
    if "D1" not in scene.prompt.stored:
        return []
    return [stored.bank(scene, "D1", rubric=RUBRIC, sound=True, facts=scene.words())]


def kinds(scene: Scene) -> list[str]:
    """Kind of every transition of the script."""
    return [labels.normalise("cinematographic", cut.cinematographic) for cut in scene.prompt.cuts]


def measure(scene: Scene, place: int) -> float | None:
    """Credit of a transition of the four measured kinds; None for others and where a signal is not there."""
    kind, cut = kinds(scene)[place], scene.cuts[place]
    if cut is None or kind not in MEASURED:
        return None
    if kind == "match on action":
        flow = moved(scene.media["flow"], scene.defects.nominal_rate)
        return motion.action_match(flow, cut, scene.defects.segments_before_cut, scene.edit.cut_is_old)
    if kind == "sound match":
        return _sound(scene, cut)
    looks: Embeddings = scene.media["looks"]
    similarity = visual_match(looks, sample_times(scene, looks), cut, scene.edit.cut_is_old)
    if similarity is None:
        return None
    return graphic_match(similarity) if kind == "graphic match" else contrast_cut(similarity)


def _sound(scene: Scene, cut: float) -> float | None:
    """D-16: the reference compares whole seconds, which may both lie before the cut."""
    tags: AudioTags | None = scene.media.get("tags")
    if tags is None:
        return None
    cut += scene.start - scene.media["sound"].start  # tags are on the sound's own clock
    if not scene.defects.segments_before_cut:
        return sound_match(tags, cut)
    start = np.arange(len(tags.probability)) * tags.step
    wanted = np.clip([int(cut) - 1, int(cut)], 0, int(start[-1]))
    before, after = (tags.probability[(start >= k) & (start < k + 1)].mean(axis=0) for k in wanted)
    return clip01(cosine(before, after))


def evidence(scene: Scene, place: int, kind: str, cut: float) -> Mapping[str, Fact]:
    """What experts found around a cut, for the kinds where there is something to tell."""
    if kind == "whip-pan":
        return _whip(scene, place, cut)
    if kind == "logical cut":
        return {"cosine of the pictures on both sides of the cut": _similar(scene, place, cut)}
    return LOST.get(kind, {}) if scene.defects.lost_summaries else {}


LOST: Mapping[str, Mapping[str, Fact]] = {
    "exit-and-entry": {"edges": "{}"},
    "wipe-by": {"largest share that something covers": 0.0},
    "empty shot": {"persons": "N/A", "scene": "N/A"},
    "pov cut": {"persons": 0},
}
"""D-02: what the reference tells of every clip, because it looks for its experts' findings at the wrong place. Scales
around an extreme scale cut are the only findings that it looks for where they are: a constant would be ours."""


def _similar(scene: Scene, place: int, cut: float) -> float | None:
    """D-09: the reference takes its k-th pair of pictures half a second apart for the k-th cut."""
    if not scene.defects.sample_cosines:
        looks: Embeddings = scene.media["looks"]
        return visual_match(looks, sample_times(scene, looks), cut, scene.edit.cut_is_old)
    halves: Embeddings = scene.media["halves"]
    return cosine(*halves.vectors[place : place + 2]) if place + 2 <= len(halves.vectors) else None


def _whip(scene: Scene, place: int, cut: float) -> Mapping[str, Fact]:
    """D-10: the reference looks around the script's time of the cut."""
    at = scene.prompt.shots[place].span[1] if scene.defects.prompt_times else cut
    found = motion.whip(moved(scene.media["flow"], scene.defects.nominal_rate), at, scene.edit.cut_is_old)
    mean, largest = found or (None, None)
    return {
        "mean motion around the cut, pixels of 320": mean,
        "largest motion around the cut, pixels of 320": largest,
        "a whip pan of the reference has, pixels of a larger picture": WHIP,
    }


def _question(scene: Scene, place: int, cut: float, kind: str) -> Wanted:
    item, wanted = _item(place), scene.prompt.cuts[place]
    text = f"Is the transition from shot {place + 1} to shot {place + 2}, at {cut:.2f} s, a {wanted.cinematographic}?"
    shots = [shot.span for shot in scene.alignment.shots]
    words = scene.words(*screen_text.both(shots, place)) if kind in WRITTEN else {}
    facts = {**evidence(scene, place, kind, cut), **words}
    limit = 150 if scene.defects.short_descriptions else None
    data = {"shots": scene.found_shots(), "rubric": RUBRICS[kind], "question": text}
    if kind == "logical cut" and wanted.description:
        data["description"] = wanted.description[:limit]
    return Wanted(
        item,
        lambda: scene.asked(FORM, item, lambda: scene.around(cut), data, facts, True, [cut]),
        {"question": text, "kind": kind, "cut": cut, "measured": dict(facts)},
    )


def score(played: Played) -> Outcome:
    """Half the mean credit of all transitions, half the stored question; one alone where the other is not there."""
    scene = played.scene
    measured = [measure(scene, place) for place in range(len(scene.prompt.cuts))]
    judged = [_judged(played, place) for place in range(len(measured))]
    unanswered = [name for name in played.said if name.startswith("D1/transition") and _lost(played, name)]
    known = [place for place in range(len(measured)) if _item(place) not in unanswered]
    expert = merge.transitions([measured[k] for k in known], [judged[k] for k in known]) if known else None
    question = _bank(played)
    value = required(merge.mean_of(expert, question), played, "No transition was judged.")
    return Outcome(
        value,
        details={
            "transitions": [
                {"transition": place + 1, "wanted": kind, "cut": cut, "measured": a, "judged": b}
                for place, (kind, cut, a, b) in enumerate(zip(kinds(scene), scene.cuts, measured, judged, strict=True))
            ],
            "modes_found": {"A+B": expert, "C": question},
            "unanswered": unanswered,
            "sound_tags": "YAMNet in place of PANNs CNN14",
            "items": played.items("D1/"),
        },
    )


def _item(place: int) -> str:
    return f"D1/transition/{place + 1}"


def _lost(played: Played, name: str) -> bool:
    """Whether there is no answer: such a transition is left out. An answer that is no Yes is a No to the reference."""
    status = played.said[name].status
    return status is not Status.OK and not (played.scene.defects.failure_is_half and status is Status.UNPARSED)


def _judged(played: Played, place: int) -> float | None:
    answer = played.said.get(_item(place))
    if answer is None or answer.status is not Status.OK:
        return None
    return float(answer.label == "Yes")


def _bank(played: Played) -> float | None:
    if "D1" not in played.scene.prompt.stored:
        return None
    wanted, question = played.wanted["D1/question"], played.scene.prompt.question("D1")
    return stored.bank_score(question, wanted, played.said["D1/question"], played.scene.defects)


DIMENSION = Dimension(
    "D1",
    "Cinematographic transition",
    "Whether transitions are of the kind that was asked for: signals, a judge with evidence, a stored question.",
    score,
    (transition_stage, bank_stage),
    (FORM, stored.ONE_TOKEN, stored.TEXT),
    needs=lambda defects: {
        **look_needs(defects),
        "flow": FramesNeed(motion.VIEW),
        **({"halves": HALVES} if defects.sample_cosines else {}),
    },
    hears=True,
    stands_in_for={"audio_tags": "PANNs CNN14"},
    reads_words=True,
    version=4,
)


def metric(defects: Defects) -> Metric:
    """D1 of one profile."""
    return card(DIMENSION, defects)
