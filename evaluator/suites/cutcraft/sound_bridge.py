"""What the sound does at a cut of the pictures: J, L or straight. Dimension D3 of CutCraft, profile `paper`.

Every explanation of the stretch around the cut is weighed: all changes at the cut (straight, possibly by a crossfade),
the next sound comes before it (J) or the previous one stays after it (L), where both sound together or one replaces
the other, at every offset. An explanation says which moments are the one sound, the other, or both; what it costs is
how badly these moments explain each other (`sound_likeness`). The relation whose explanations are likelier, averaged
over offsets, is the answer. Unlike the reference's fixed 0.8 s blocks (spec D-18) this measures the offset, and it says
so when both shots sound alike.

What it cannot see: a sound that is silent during the offset, and offsets beyond 60 % of the shorter shot.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F64, Audio
from evaluator.schema import AudioNeed, AudioView
from evaluator.suites.cutcraft.labels import Relation
from evaluator.suites.cutcraft.sound_likeness import RATE, STEP, band_levels, contrast, divided, summed

NEEDS = {"sound": AudioNeed(AudioView(RATE))}
"""What `bridge` takes: the rate at which the spec's other signals are computed too."""

MOST = 6.0  # seconds of each shot that are looked at
REACH = 2.2  # seconds, the largest offset that is looked for
SHARE_OF_SHOT = 0.6  # and the largest share of a shot
LEAST = 0.4  # seconds of sound that a shot must have beyond the reach; below, a moment may have none far enough

STRAIGHT_WITHIN = 4  # steps around the cut that are still straight: 0.08 s
LONGEST_FADE = 11  # steps on each side of a straight cut's crossfade: 0.22 s
FADED = 0.1  # how likely a straight cut is a crossfade
EDGE = 2  # steps beyond the cut in which both sounds may be heard
ALIKE = 0.02  # contrast below which nothing can be said


@dataclass(frozen=True, slots=True)
class Bridge:
    """What was heard at one cut. `relation` is None when both shots sound alike, so that nothing can be said."""

    relation: Relation | None
    offset: float  # seconds by which the sound changes before (negative) or after the cut
    overlap: bool  # both sounds during the offset
    margin: float  # log odds of the relation over the next likely one, 0 = undecided
    contrast: float  # how unlike the two sounds are, in cost per step


@dataclass(frozen=True, slots=True)
class _Reading:
    """One relation: how likely it is, and its best explanation."""

    relation: Relation
    evidence: float  # log likelihood, averaged over its explanations
    steps: int  # of the offset, signed
    overlap: bool


@dataclass(frozen=True, slots=True)
class _Costs:
    """Costs around a cut at step `middle`; readings are looked for in steps [low, high]."""

    middle: int
    low: int
    high: int
    first: F64  # [T + 1] steps before e as the previous sound
    second: F64  # [T + 1] steps from e on as the next one
    early: F64  # [middle - low + EDGE + 1] running sum of both at once from `low` on, as before a cut
    late: F64  # [high - middle + EDGE + 1] the same from `middle - EDGE` on, as after a cut

    def replaced(self, at: int) -> float:
        """One sound gives way to the other at a step."""
        return float(self.first[at] + self.second[at])

    def mixed(self, begins: int, ends: int) -> float:
        """Both are there from `begins` to `ends`, one of which is the cut or which lie around it."""
        early = self.early[self.middle - self.low] - self.early[min(begins, self.middle) - self.low]
        late = self.late[max(ends, self.middle) - self.middle + EDGE] - self.late[EDGE]
        return float(self.first[begins] + early + late + self.second[ends])


def bridge(sound: Audio, cut: float, previous: tuple[float, float], following: tuple[float, float]) -> Bridge:
    """Judge the sound at `cut` (seconds, on the clip's clock) between two shots given as (start, end) in seconds.

    Raises NotApplicable if the clip has no sound or a shot is too short to know its sound.
    """
    if not sound.present:
        raise NotApplicable("not_applicable", "The clip has no audio stream, so no cut has a sound.")
    start = max(previous[0], sound.start, cut - MOST)
    ends = min(following[1], cut + MOST)
    samples = sound.float32[round((start - sound.start) * sound.rate) : round((ends - sound.start) * sound.rate)]
    levels = band_levels(samples, sound.rate)
    middle = round((cut - start) / STEP)
    reach = min(REACH, SHARE_OF_SHOT * min(cut - start, len(levels) * STEP - (cut - start)))
    low, high = middle - int(reach / STEP), middle + int(reach / STEP)
    if min(low, len(levels) - high) * STEP < LEAST:
        raise NotApplicable("not_applicable", f"A shot at the cut at {cut:.2f} s is too short to know its sound.")
    unlike = contrast(levels[:low], levels[high:])
    best, second = sorted(_readings(_costs(levels, middle, low, high)), key=lambda one: -one.evidence)[:2]
    return Bridge(
        relation=best.relation if unlike >= ALIKE else None,
        offset=best.steps * STEP,
        overlap=best.overlap,
        margin=best.evidence - second.evidence,
        contrast=unlike,
    )


def _costs(levels: F64, middle: int, low: int, high: int) -> _Costs:
    """Before the cut the next sound is known from its whole shot, after it the previous one is."""
    early = summed(levels[low : middle + EDGE], levels[:low], levels[middle:])
    late = summed(levels[middle - EDGE : high], levels[:middle], levels[high:])
    first, second = divided(levels)
    return _Costs(middle, low, high, first, second, _running(early), _running(late))


def _running(costs: F64) -> F64:
    return np.concatenate([[0.0], np.cumsum(costs)])


def _readings(costs: _Costs) -> list[_Reading]:
    """The three relations with their evidence."""
    near = STRAIGHT_WITHIN
    early, late = range(costs.low, costs.middle - near), range(costs.middle + near + 1, costs.high + 1)
    return [
        _straight(costs),
        _moved(costs, Relation.J_CUT, early, [costs.mixed(at, costs.middle) for at in early]),
        _moved(costs, Relation.L_CUT, late, [costs.mixed(costs.middle, at) for at in late]),
    ]


def _straight(costs: _Costs) -> _Reading:
    at, near = costs.middle, STRAIGHT_WITHIN
    steps = _mean([costs.replaced(at + k) for k in range(-near, near + 1)])
    longest = min(LONGEST_FADE, at - costs.low)
    fades = _mean([costs.mixed(at - k, at + k) for k in range(1, longest + 1)])
    evidence = float(np.logaddexp(steps + np.log(1.0 - FADED), fades + np.log(FADED)))
    return _Reading(Relation.STRAIGHT, evidence, 0, overlap=False)


def _moved(costs: _Costs, relation: Relation, places: range, mixed: list[float]) -> _Reading:
    """J or L: `mixed` are the costs of both sounds from each place to the cut, or from the cut to it."""
    replaced = [costs.replaced(at) for at in places]
    overlap = min(mixed) < min(replaced)
    best = int(np.argmin(mixed if overlap else replaced))
    evidence = float(np.logaddexp(_mean(replaced), _mean(mixed)) - np.log(2.0))
    return _Reading(relation, evidence, places[best] - costs.middle, overlap)


def _mean(costs: list[float]) -> float:
    """Logarithm of the mean likelihood of explanations that cost so much."""
    return float(np.logaddexp.reduce(-np.asarray(costs)) - np.log(len(costs)))
