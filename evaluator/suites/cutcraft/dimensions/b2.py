"""B2: does motion follow the music, and does the sound at each cut fit its optical effect?

Music is drums, bass and other sounds where a model takes the sound apart, else the whole mix; the record says which
it was (`music_is`). How the sound fits a cut is heard in the mix, as in the reference. D-01: in `compat` a flash to
white has none of the words looked for, so it is rated like a hard cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean

from evaluator.errors import NotApplicable
from evaluator.media.types import F32, Audio
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import AudioNeed, AudioView, FramesNeed, Need
from evaluator.suites.cutcraft import motion, rhythm, stems
from evaluator.suites.cutcraft.cut_scores import wanted_optical
from evaluator.suites.cutcraft.dimensions.card import Dimension
from evaluator.suites.cutcraft.dimensions.card import metric as card
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.flow import moved
from evaluator.suites.cutcraft.modes import Played
from evaluator.suites.cutcraft.onsets import RATE
from evaluator.suites.cutcraft.scene import Scene, stretch

NEEDS: Mapping[str, Need] = {"flow": FramesNeed(motion.VIEW), "track": AudioNeed(AudioView(RATE))}
NO_ANSWER = 0.5
"""What the reference writes where there is no number (D-21)."""


def score(played: Played) -> Outcome:
    """0.65 following + 0.35 fitting. Without music nothing follows it: that half is 0."""
    scene = played.scene
    music = _has_music(scene)
    follow = _following(scene) if music else 0.0
    fits = {cut: fit for cut, fit in _fits(scene).items() if fit is not None}
    fit = fmean(fits.values()) if fits else None
    if scene.defects.failure_is_half:
        follow, fit = (NO_ANSWER if part is None else part for part in (follow, fit))
    if follow is None or fit is None:
        raise NotApplicable("not_applicable", "Music and motion do not vary together, or no cut has sound around it.")
    return Outcome(
        rhythm.rhythm_score(follow, fit),
        details={
            "music": music,
            "following": follow,
            "fitting": fit,
            "cuts": fits,
            "music_is": stems.used(scene.media),
        },
    )


def _track(scene: Scene) -> Audio:
    """The sound from the clip's first frame on."""
    return stretch(scene.media["track"], float(scene.media["flow"].time[0]), (0.0, scene.edit.duration))


def _music(scene: Scene) -> F32:
    """[T] at RATE, from the clip's first frame on."""
    apart = stems.stems_of(scene.media)
    return stems.music(apart, RATE, float(scene.media["flow"].time[0])) if apart else _track(scene).float32


def _has_music(scene: Scene) -> bool:
    apart, samples = stems.stems_of(scene.media), _music(scene)
    if apart is None:
        return rhythm.has_music(samples)
    return not stems.mostly_voices(apart) and (len(samples) <= RATE or rhythm.has_music(samples))


def _following(scene: Scene) -> float | None:
    levels = rhythm.hop_levels(_music(scene), RATE)
    return rhythm.following(levels, moved(scene.media["flow"], scene.defects.nominal_rate), scene.defects.nominal_rate)


def _fits(scene: Scene) -> dict[str, float | None]:
    """Transition -> how the sound fits; only those whose shots are there."""
    samples = _track(scene).float32
    return {
        str(place + 1): rhythm.fit_of_cut(samples, RATE, cut, wanted_optical(wanted.optical, scene.defects))
        for place, (cut, wanted) in enumerate(zip(scene.cuts, scene.prompt.cuts, strict=True))
        if cut is not None
    }


DIMENSION = Dimension(
    "B2",
    "Rhythm",
    "Whether motion follows the music, and whether the sound at each cut fits its effect.",
    score,
    needs=lambda defects: {**NEEDS, **stems.NEEDS},
    optional=stems.OPTIONAL,
    version=4,
)
MIX_ALONE = replace(DIMENSION, needs=lambda defects: NEEDS)


def metric(defects: Defects) -> Metric:
    """B2 of one profile; without a model that takes sound apart, on the whole mix."""
    return card(replace(DIMENSION, instead=MIX_ALONE), defects)
