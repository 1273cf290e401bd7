"""D3: J-cut, L-cut or straight? The sound around every cut is measured; the judge is asked where it tells nothing.

`paper` compares the moments around the cut with both shots' own sounds, in the whole mix, and so measures the offset.
`compat` decides in the reference's order: speech that reaches over the cut, fixed blocks of ambience, things that sound
over the cut and a clear change in the stems, then the judge, then what the stems suggest. Speech is that of the stem
`vocals`. Without a model that takes sound apart it is that of the mix, and speech and ambience are all there is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from typing import Any

from evaluator.errors import NotApplicable
from evaluator.experts.features import Transcript
from evaluator.judge.types import Status
from evaluator.media.types import Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Need
from evaluator.suites.cutcraft import labels, stems
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
from evaluator.suites.cutcraft.stem_signals import StemSignals, signals

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
    fallback: Relation | None = None  # what they suggest where a judge cannot tell either


TRACK: Mapping[str, Need] = {"track": AudioNeed(AudioView(RATE, missing="silence"))}
VOICES = frozenset({"words"})


def needs(defects: Defects) -> Mapping[str, Need]:
    """The track in the signals' rate; `compat` looks at who speaks when, and at stems."""
    if not defects.fixed_ambience_blocks:
        return TRACK
    apart = {"words": ExpertNeed("vocals_transcript"), "stem_tags": ExpertNeed("stem_tags")}
    return {**TRACK, **stems.NEEDS, **apart}


def needs_of_mix(defects: Defects) -> Mapping[str, Need]:
    """The same without a model that takes sound apart."""
    return {**TRACK, "words": ExpertNeed("transcript")} if defects.fixed_ambience_blocks else TRACK


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
    spans = _later(_picture_start(scene) - scene.media["track"].start, before, after)
    spoken = speech_projection(words, *spans) if words is not None else None
    if spoken is not None:
        return Heard(spoken, "speech", {})
    found = ambience(track, cut)
    facts = {"dominance": found.dominance, "full": found.full}
    if found.relation is not None:
        return Heard(found.relation, "ambience", facts)
    told = stem_signals(scene, cut, before, after)
    if told is None:
        return Heard(None, "nothing", facts)
    return Heard(told.relation, "stems" if told.relation else "nothing", {**facts, **_facts(told)}, told.fallback)


def stem_signals(scene: Scene, cut: float, before: Span, after: Span) -> StemSignals | None:
    """What the stems say about a cut; None if there are none."""
    apart, words, tags = stems.stems_of(scene.media), scene.media.get("words"), scene.media.get("stem_tags")
    if apart is None or words is None or tags is None:
        return None
    late = _picture_start(scene) - apart.start  # what a time on the picture's clock is later on the stems'
    return signals(apart, tags, words, cut + late, *_later(late, before, after))


def _later(seconds: float, *spans: Span) -> list[Span]:
    return [(low + seconds, high + seconds) for low, high in spans]


def _facts(told: StemSignals) -> dict[str, Any]:
    """The signals as plain values by name."""
    own = {name: value for name, value in asdict(told).items() if name != "crossing"}
    found = told.crossing
    crossing = f"{found.run.family} in {found.run.stem}, {found.relation or 'of both'}" if found else "none"
    return {**own, "crossing": crossing}


def speech_projection(words: Transcript, before: Span, after: Span) -> Relation | None:
    """Whose shot holds more of the speech that reaches over the cut; None without such speech or if it fills both.

    Spans are on the clock of the words, which begins with the sound track.
    """
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
    named; in `compat` it counts 0, as in the reference, if a judge has answered: a judge that failed or that nobody has
    asked is no answer.
    """
    scene = played.scene
    items = [_item(played, place) for place in range(len(scene.prompt.cuts))]
    undecided = [item["transition"] for item in items if item["credit"] is None]
    known = [item["credit"] for item in items if item["credit"] is not None]
    if scene.defects.failure_is_half:
        known += [0.0 for place in undecided if _answered(played, place)]
    value = required(fmean(known) if known else None, played, "At no cut could be told what the sound does.")
    return Outcome(
        value,
        details={
            "transitions": items,
            "undecided": undecided,
            "items": played.items("D3/"),
            "signals_of": signals_of(scene),
        },
    )


def _answered(played: Played, transition: int) -> bool:
    """Whether the judge has said something of a transition (from 1), be it of no use."""
    answer = played.said.get(f"D3/relation/{transition}")
    return answer is not None and answer.status in {Status.OK, Status.UNPARSED}


def signals_of(scene: Scene) -> str:
    """Which sound was looked at, in words for a record."""
    if not scene.defects.fixed_ambience_blocks:
        return "the whole mix"
    if stems.stems_of(scene.media) is not None:
        return "ambience: the whole mix; speech: the vocals stem; the rest: drums, bass and other stems"
    return f"ambience and speech: {stems.used(scene.media)}; things that sound over a cut: not looked for"


def _item(played: Played, place: int) -> dict[str, Any]:
    scene, asked = played.scene, played.scene.prompt.cuts[place].relation
    signals, wanted = heard(scene, place), labels.relation(asked)
    answer = played.said.get(f"D3/relation/{place + 1}")
    relation, by = (signals.relation, signals.by) if signals is not None else (None, "missing shot")
    if relation is None and answer is not None and answer.status is Status.OK:
        relation, by = SAID.get(answer.label or ""), "judge"
    if relation is None and signals is not None and signals.fallback is not None:
        relation, by = signals.fallback, "stems"
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
    optional=VOICES | stems.OPTIONAL | {"stem_tags"},
    version=5,
)
MIX_ALONE = replace(DIMENSION, needs=needs_of_mix, optional=VOICES)


def metric(defects: Defects) -> Metric:
    """D3 of one profile; `compat` without a model that takes sound apart hears the mix alone."""
    return card(replace(DIMENSION, instead=MIX_ALONE if defects.fixed_ambience_blocks else None), defects)
