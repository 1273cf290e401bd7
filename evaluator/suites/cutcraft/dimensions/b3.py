"""B3: do rhythm and mood of the sound suit the cutting and the script? A judge on rhythm, tags of the sound on mood.

Where a model takes the sound apart, the judge is told the levels of its stems, and they say whether there is music.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluator.experts.features import AudioTags, SoundStems
from evaluator.judge.evidence_text import Fact
from evaluator.judge.types import Status
from evaluator.media.types import Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.metrics.gates import class_probability
from evaluator.metrics.levels import rms
from evaluator.suites.cutcraft import mood, stems
from evaluator.suites.cutcraft.dimensions.card import Dimension, nothing, required
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.merge import mood_and_rhythm
from evaluator.suites.cutcraft.modes import Played, Said, Wanted
from evaluator.suites.cutcraft.rhythm import QUIET
from evaluator.suites.cutcraft.scene import Scene
from evaluator.suites.cutcraft.scoring import RHYTHM

FORM, ITEM = "cut_rhythm", "B3/rhythm"
CLASSES = {
    "happy": "Happy music",
    "funny": "Funny music",
    "sad": "Sad music",
    "tender": "Tender music",
    "exciting": "Exciting music",
    "angry": "Angry music",
    "scary": "Scary music",
}
"""AudioSet's moods, 276 to 282 of the reference's 527 tags."""
LEAST_MUSIC = 0.1
NO_ANSWER = 0.5


def rhythm_stage(scene: Scene, said: Said) -> Sequence[Wanted]:
    """How does the rhythm of the sound go with the cutting? Not asked of a clip without sound: it has no rhythm."""
    if not scene.has_sound:
        return []
    facts, data = pace(scene), {"cuts": pace_text(scene)}
    cuts = [one.cut for one in scene.edit.changes]
    return [
        Wanted(
            ITEM,
            lambda: scene.asked(FORM, ITEM, scene.whole, data, facts, True, cuts),
            {"question": data["cuts"], "measured": dict(facts)},
        )
    ]


def pace(scene: Scene) -> Mapping[str, Fact]:
    """What experts found, as the judge is told: of the whole sound, and of its stems if there are some."""
    tags: AudioTags | None = scene.media.get("tags")
    apart = stems.stems_of(scene.media)
    return {
        "level of the sound, RMS": round(level(scene), 4),
        "probability of music": round(music(tags), 3) if tags is not None else None,
        **(stem_facts(apart) if apart is not None else {}),
    }


def stem_facts(apart: SoundStems) -> Mapping[str, Fact]:
    """Energy and level of each stem, and how much of the level is drums and bass."""
    whole = sum(one.rms for one in apart.facts.values())
    return {
        **{f"{name}, share of the energy": round(one.energy_ratio, 3) for name, one in apart.facts.items()},
        **{f"{name}, RMS": round(one.rms, 4) for name, one in apart.facts.items()},
        **{f"{name}, share of the RMS": round(apart.facts[name].rms / (whole + 1e-8), 3) for name in ("drums", "bass")},
    }


def pace_text(scene: Scene) -> str:
    """How fast the clip is cut, counted from the pictures and not from the alignment."""
    count, seconds = len(scene.edit.segments), scene.edit.duration
    times = ", ".join(f"{one.cut:.2f} s" for one in scene.edit.changes)
    return (
        f"{count} shots in {seconds:.1f} s, mean length {seconds / max(count, 1):.2f} s; cuts at {times or 'no time'}"
    )


def level(scene: Scene) -> float:
    """RMS of the sound, full scale 1."""
    sound: Audio = scene.media["sound"]
    return rms(sound.samples) / 32768.0


def music(tags: AudioTags) -> float:
    """Mean probability of music over the clip."""
    return float(class_probability(tags, "Music").mean())


def has_music(scene: Scene) -> bool:
    """Whether the stems, or without them the whole sound, are loud enough to hold music."""
    apart = stems.stems_of(scene.media)
    if apart is None:
        return level(scene) >= QUIET
    return not stems.mostly_voices(apart) and stems.music_level(apart) >= QUIET


def heard_moods(tags: AudioTags) -> dict[str, float]:
    """Mean probability over the clip of each mood that the tagger knows: YAMNet has no funny music."""
    known = {name: title for name, title in CLASSES.items() if title in tags.names}
    return {name: float(class_probability(tags, title).mean()) for name, title in known.items()}


def mood_part(scene: Scene) -> tuple[float | None, dict[str, float]]:
    """(score, probabilities of the moods); the score is NO_MUSIC without music, None where nothing can be compared.

    A mood that is asked for and that the tagger does not know is left out: it can be neither heard nor missed.
    """
    tags: AudioTags | None = scene.media.get("tags")
    if tags is None or not scene.has_sound:
        return mood.NO_MUSIC, {}
    heard = heard_moods(tags)
    if not has_music(scene) or music(tags) < LEAST_MUSIC:
        return mood.NO_MUSIC, heard
    return mood.mood_score(tuple(one for one in mood.expected_moods(scene.prompt.words) if one in heard), heard), heard


def score(played: Played) -> Outcome:
    """Mean of both halves; where the script names no mood, the judge's half stands alone (the reference: 0.5, D-21)."""
    scene = played.scene
    felt, heard = mood_part(scene)
    if felt is None and scene.defects.failure_is_half:
        felt = NO_ANSWER
    rhythm = _rhythm(played)
    value = required(rhythm, played, "The rhythm was not judged.")
    return Outcome(
        value if felt is None else mood_and_rhythm(value, felt),
        details={
            "rhythm": value,
            "mood": felt,
            "expected": list(mood.expected_moods(scene.prompt.words)),
            "heard": heard,
            "unknown": sorted(set(CLASSES) - set(heard)) if heard else [],
            "tags": "YAMNet in place of PANNs CNN14",
            "music_is": stems.used(scene.media),
            "items": played.items("B3/"),
        },
    )


def _rhythm(played: Played) -> float | None:
    if not played.scene.has_sound:
        return RHYTHM["D"]
    answer = played.said[ITEM]
    if answer.status is Status.OK and answer.label is not None:
        return RHYTHM[answer.label]
    return NO_ANSWER if played.scene.defects.failure_is_half and answer.status is Status.UNPARSED else None


DIMENSION = Dimension(
    "B3",
    "Rhythm and mood",
    "A judge on the rhythm of the sound against the cutting, tags of the sound on its mood against the script.",
    score,
    (rhythm_stage,),
    (FORM,),
    needs=lambda defects: stems.NEEDS,
    hears=True,
    optional=stems.OPTIONAL,
    stands_in_for={"audio_tags": "PANNs CNN14"},
    version=5,
)
MIX_ALONE = replace(DIMENSION, needs=nothing)


def metric(defects: Defects) -> Metric:
    """B3 of one profile; without a model that takes sound apart, on the whole mix."""
    return card(replace(DIMENSION, instead=MIX_ALONE), defects)
