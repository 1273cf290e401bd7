"""D3: J-cut, L-cut or straight? The sound around every cut is measured; the judge is asked where it tells nothing.

`paper` compares the moments around the cut with both shots' own sounds and so measures the offset. `compat` decides in
the reference's order as far as its signals are here: speech that reaches over the cut, then fixed blocks of ambience,
then the judge. Stems, and so object sounds and the continuity of the background, need a separation that does not
ship.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.features import Transcript
from evaluator.judge.types import Status
from evaluator.media.types import Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Need
from evaluator.suites.cutcraft import labels
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.ambience import ambience
from evaluator.suites.cutcraft.cut_scores import relation_credit
from evaluator.suites.cutcraft.dimensions.card import Dimension, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.labels import Relation
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.onsets import RATE
from evaluator.suites.cutcraft.scene import MOMENT, Scene, stretch
from evaluator.suites.cutcraft.sound_bridge import bridge

FORM = "cut_relation"
SAID = {"A": Relation.J_CUT, "B": Relation.L_CUT, "C": Relation.STRAIGHT}
COVERED = 0.95
"""Share of both shots from which on speech over the cut belongs to neither (spec 8.1)."""
TRUSTED = 0.5


@dataclass(frozen=True, slots=True)
class Heard:
    """What signals say about one cut; `relation` is None where they say nothing."""

    relation: Relation | None
    by: str
    facts: Mapping[str, Any]


def needs(defects: Defects) -> Mapping[str, Need]:
    """The track in the signals' rate; `compat` looks at who speaks when."""
    words = {"words": ExpertNeed("transcript")} if defects.fixed_ambience_blocks else {}
    return {"track": AudioNeed(AudioView(RATE, missing="silence")), **words}


def heard(scene: Scene, place: int) -> Heard | None:
    """What the signals say at one transition; None if a shot is missing. Raises NotApplicable without sound."""
    cut, before, after = scene.cuts[place], *(scene.alignment.shots[place + k].span for k in (0, 1))
    if cut is None or before is None or after is None:
        return None
    sound: Audio = scene.media["track"]
    if not sound.present:
        raise NotApplicable("not_applicable", "The clip has no audio stream, so no cut has a sound.")
    track = stretch(sound, _picture_start(scene), (0.0, scene.edit.duration))
    if scene.defects.fixed_ambience_blocks:
        return _as_the_reference(scene, track, cut, before, after)
    try:
        found = bridge(track, cut, (before[0], cut), (cut, after[1]))
    except NotApplicable as reason:
        return Heard(None, "nothing", {"why": reason.message})
    facts = {"offset": found.offset, "overlap": found.overlap, "margin": found.margin, "contrast": found.contrast}
    return Heard(found.relation, "sound_bridge" if found.relation else "nothing", facts)


def _picture_start(scene: Scene) -> float:
    frames = scene.media.get("pictures") or scene.media["gray"]
    return float(frames.time[0])


def _as_the_reference(scene: Scene, track: Audio, cut: float, before: Span, after: Span) -> Heard:
    words: Transcript | None = scene.media.get("words")
    spoken = speech_projection(words, before, after) if words is not None else None
    if spoken is not None:
        return Heard(spoken, "speech", {})
    found = ambience(track, cut)
    facts = {"dominance": found.dominance, "full": found.full}
    return Heard(found.relation, "ambience" if found.relation else "nothing", facts)


def speech_projection(words: Transcript, before: Span, after: Span) -> Relation | None:
    """Whose shot holds more of the speech that reaches over the cut; None without such speech or if it fills both."""
    best: tuple[float, Relation | None] = (0.0, None)
    for one in words.utterances:
        if not one.text.strip() or 1.0 - one.no_speech < TRUSTED:
            continue
        previous, following = (max(0.0, min(one.end, b) - max(one.start, a)) for a, b in (before, after))
        if min(previous, following) <= 0.0:
            continue
        whole = previous >= COVERED * (before[1] - before[0]) and following >= COVERED * (after[1] - after[0])
        owner = None if whole else Relation.J_CUT if following > previous else Relation.L_CUT
        rank = min(previous, following) + 0.25 * (previous + following)
        if rank > best[0]:
            best = (rank, owner)
    return best[1]


def relation_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """Only the transitions that no signal decides; the reference asks about all and rarely uses it."""
    found = [heard(scene, place) for place in range(len(scene.prompt.cuts))]
    return [
        _question(scene, place, cut, one)
        for place, (cut, one) in enumerate(zip(scene.cuts, found, strict=True))
        if cut is not None and one is not None and one.relation is None
    ]


def _question(scene: Scene, place: int, cut: float, signals: Heard) -> Wanted:
    item = f"D3/relation/{place + 1}"
    data = {"before": scene.prompt.shots[place].description, "after": scene.prompt.shots[place + 1].description}
    facts = {"cut, seconds": cut, **{f"signal, {name}": value for name, value in signals.facts.items()}}
    span = (max(0.0, cut - MOMENT), min(scene.edit.duration, cut + MOMENT))
    return Wanted(
        item,
        lambda: scene.asked(FORM, item, lambda: scene.moment(cut), data, facts, span, [cut]),
        {"question": f"the sound at {cut:.2f} s", "transition": place + 1},
    )


def score(played: Played) -> Outcome:
    """Share of transitions with the relation that was asked for.

    A transition one of whose shots is missing counts 0. One that neither signals nor a judge could tell is left out and
    named; in `compat` it counts 0, as in the reference.
    """
    scene = played.scene
    items = [_item(played, place) for place in range(len(scene.prompt.cuts))]
    undecided = [item["transition"] for item in items if item["credit"] is None]
    known = [item["credit"] for item in items if item["credit"] is not None]
    if scene.defects.failure_is_half:
        known += [0.0] * len(undecided)
    value = required(fmean(known) if known else None, played, "At no cut could be told what the sound does.")
    return Outcome(
        value, details={"transitions": items, "undecided": undecided, "items": played.items("D3/"), "stems": "none"}
    )


def _item(played: Played, place: int) -> dict[str, Any]:
    scene, asked = played.scene, played.scene.prompt.cuts[place].relation
    signals, wanted = heard(scene, place), labels.relation(asked)
    answer = played.said.get(f"D3/relation/{place + 1}")
    relation, by = (signals.relation, signals.by) if signals is not None else (None, "missing shot")
    if relation is None and answer is not None and answer.status is Status.OK:
        relation, by = SAID.get(answer.label or ""), "judge"
    credit = relation_credit(wanted, relation) if relation is not None or signals is None else None
    return {
        "transition": place + 1,
        "label": asked,
        "wanted": str(wanted),
        "cut": scene.cuts[place],
        "found": str(relation) if relation else None,
        "by": by,
        "credit": credit,
        **({"signals": dict(signals.facts)} if signals is not None else {}),
    }


DIMENSION = Dimension(
    "D3",
    "Audio-video relation",
    "Whether sound comes early, stays on or changes with the picture, as asked.",
    score,
    (relation_stage,),
    (FORM,),
    needs=needs,
    hears=True,
    optional=frozenset({"words"}),
    version=2,
)


def metric(defects: Defects) -> Metric:
    """D3 of one profile."""
    return card(DIMENSION, defects)
