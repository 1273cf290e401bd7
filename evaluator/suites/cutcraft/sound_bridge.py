"""What the sound does at a cut of the pictures: J, L or straight. Dimension D3 of CutCraft, profile `paper`.

Both shots' sounds are learnt away from the cut, as a few typical spectra each. Every moment around the cut is then
compared with the one, with the other, and with sums of both, for powers of independent sounds add. The explanation of
the whole stretch that costs least decides: all changes at the cut (straight), the next sound before it (J) or the
previous one after it (L), where both sound together or one replaces the other. Unlike the reference's fixed 0.8 s
blocks (spec D-18) this measures the offset, and it says so when both shots sound alike.

What it cannot see: a sound that is silent during the offset, and offsets beyond 60 % of the shorter shot.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.experts.spectral import hann, mel_bank, mel_spectrogram
from evaluator.media.types import F32, F64, Audio
from evaluator.schema import AudioNeed, AudioView
from evaluator.suites.cutcraft.labels import Relation

RATE = 22_050
NEEDS = {"sound": AudioNeed(AudioView(RATE))}
"""What `bridge` takes: the rate at which the spec's other signals are computed too."""

FFT, HOP = 1024, 220  # samples: 46 ms, 10 ms
BANDS, LOW_HZ, HIGH_HZ = 32, 60.0, 10_000.0
PER_STEP = 2  # frames whose power is averaged
STEP = HOP * PER_STEP / RATE  # seconds, 0.02
QUIET = 1e-7  # band power that is added everywhere: about -84 dBFS of white noise

SPECTRA = 20  # typical spectra per shot
ROUNDS = 12  # of Lloyd's algorithm
SILENT_SHARE = 0.03  # of the steps: their level is a silence that either shot may have
REACH = 2.2  # seconds, the largest offset that is looked for
SHARE_OF_SHOT = 0.6  # and the largest share of a shot; the rest is where its sound is learnt
LEAST = 0.3  # seconds of sound that a shot must have beyond the reach

WORST_BAND, WORST_STEP = 4.0, 5.0  # most that a band or a step may cost: a surprise is not evidence for ever
BOTH = 0.2  # cost per step of claiming that both sounds are there: two always fit better than one
MOVED = 2.0  # cost of claiming anything but one change at the cut: that the sound was moved, or faded
STRAIGHT_WITHIN = 0.09  # seconds around the cut that are still straight
EDGE = 2  # steps by which the other end of an overlap may miss the cut
FADE = 0.22  # seconds on each side, the longest crossfade of a straight cut
ALIKE = 0.12  # mean cost by which one shot's spectra must explain the other's sound worse than their own


@dataclass(frozen=True, slots=True)
class Bridge:
    """What was heard at one cut. `relation` is None when both shots sound alike, so that nothing can be said."""

    relation: Relation | None
    offset: float  # seconds by which the sound changes before (negative) or after the cut
    overlap: bool  # both sounds during the offset
    margin: float  # cost by which the next best relation is worse, 0 = undecided
    contrast: float  # how unlike the two sounds are, in cost per step


@dataclass(frozen=True, slots=True)
class _Reading:
    """One explanation: A until `ends`, B from `begins`, both in between if `ends` is later."""

    cost: float
    begins: int
    ends: int
    relation: Relation
    offset: float


def bridge(sound: Audio, cut: float, previous: tuple[float, float], following: tuple[float, float]) -> Bridge:
    """Judge the sound at `cut` (seconds, on the clip's clock) between two shots given as (start, end) in seconds.

    Raises NotApplicable if the clip has no sound or a shot is too short to know its sound.
    """
    if not sound.present:
        raise NotApplicable("not_applicable", "The clip has no audio stream, so no cut has a sound.")
    start = max(previous[0], sound.start)
    samples = sound.float32[
        round((start - sound.start) * sound.rate) : round((following[1] - sound.start) * sound.rate)
    ]
    levels = band_levels(samples, sound.rate)
    middle = round((cut - start) / STEP)
    reach = min(REACH, SHARE_OF_SHOT * min(cut - start, len(levels) * STEP - (cut - start)))
    low, high = middle - int(reach / STEP), middle + int(reach / STEP)
    if min(low, len(levels) - high) * STEP < LEAST:
        raise NotApplicable("not_applicable", f"A shot at the cut at {cut:.2f} s is too short to know its sound.")
    costs = _costs(levels, low, high)
    readings = _best_readings(costs, middle, low, high)
    best, second = sorted(readings, key=lambda one: one.cost)[:2]
    contrast = _contrast(costs, low, high)
    return Bridge(
        relation=best.relation if contrast >= ALIKE else None,
        offset=best.offset,
        overlap=best.ends > best.begins,
        margin=second.cost - best.cost,
        contrast=contrast,
    )


def band_levels(samples: F32 | F64, rate: int) -> F64:
    """Natural logarithm of mel-band power [steps, BANDS] at STEP; step k covers samples around k * STEP seconds."""
    bank = mel_bank(rate, FFT, BANDS, LOW_HZ, HIGH_HZ, "slaney", unit_area=True)
    power = mel_spectrogram(np.pad(samples.astype(np.float64), FFT // 2), hann(FFT, FFT), HOP, bank, power=2)
    whole = len(power) // PER_STEP * PER_STEP
    return np.asarray(np.log(power[:whole].reshape(-1, PER_STEP, BANDS).mean(axis=1) + QUIET))


def typical_spectra(levels: F64, count: int) -> F64:
    """At most `count` representatives [K, BANDS] of levels [T, BANDS]: k-means from the farthest points, no chance."""
    chosen = [int(np.square(levels - levels.mean(axis=0)).sum(axis=1).argmin())]
    far = np.square(levels - levels[chosen[0]]).sum(axis=1)
    while len(chosen) < min(count, len(levels)):
        chosen.append(int(far.argmax()))
        far = np.minimum(far, np.square(levels - levels[chosen[-1]]).sum(axis=1))
    centres = levels[chosen].copy()
    for _ in range(ROUNDS):
        nearest = np.square(levels[:, None] - centres).sum(axis=2).argmin(axis=1)
        for k in np.unique(nearest):
            centres[k] = levels[nearest == k].mean(axis=0)
    return centres


def misfit(levels: F64, spectra: F64) -> F64:
    """Cost [T] of the best of the spectra for each step: mean capped Itakura-Saito divergence over the bands."""
    found = np.empty(len(levels))
    for start in range(0, len(levels), 32):
        gap = (levels[start : start + 32, None] - spectra).astype(np.float32)
        cost = np.minimum(np.exp(np.clip(gap, -8, 4)) - gap - 1, np.float32(WORST_BAND)).mean(axis=2)
        found[start : start + 32] = cost.min(axis=1)
    return np.minimum(found, WORST_STEP)


def _costs(levels: F64, low: int, high: int) -> tuple[F64, F64, F64]:
    """Cost of each step as the previous shot's sound, the next one's, and both [T] (both only inside [low, high))."""
    first, second = typical_spectra(levels[:low], SPECTRA), typical_spectra(levels[high:], SPECTRA)
    silence = np.quantile(levels, SILENT_SHARE, axis=0)[None]
    sums = np.logaddexp(first[:, None], second[None]).reshape(-1, levels.shape[1])
    both = np.full(len(levels), WORST_STEP)
    both[low:high] = misfit(levels[low:high], sums) + BOTH
    return misfit(levels, np.vstack([first, silence])), misfit(levels, np.vstack([second, silence])), both


def _best_readings(costs: tuple[F64, F64, F64], middle: int, low: int, high: int) -> list[_Reading]:
    """The cheapest reading of each relation."""
    before, after, both = (np.concatenate([[0.0], np.cumsum(cost)]) for cost in costs)
    best: dict[Relation, _Reading] = {}
    for begins, ends in _hypotheses(middle, low, high):
        offset = (begins if abs(begins - middle) > abs(ends - middle) else ends) - middle
        straight = (begins == ends and abs(offset) * STEP <= STRAIGHT_WITHIN) or begins - middle == middle - ends
        relation = Relation.STRAIGHT if straight else Relation.J_CUT if offset < 0 else Relation.L_CUT
        cost = (
            before[begins]
            + both[ends]
            - both[begins]
            + after[-1]
            - after[ends]
            + (0.0 if straight and begins == ends else MOVED)
        )
        if relation not in best or cost < best[relation].cost:
            best[relation] = _Reading(float(cost), begins, ends, relation, 0.0 if straight else offset * STEP)
    return list(best.values())


def _hypotheses(middle: int, low: int, high: int) -> list[tuple[int, int]]:
    """(step where B begins, step where A ends), the first not after the second."""
    replaced = [(at, at) for at in range(low, high + 1)]
    near = round(STRAIGHT_WITHIN / STEP)
    early = product(range(low, middle - near), range(middle - EDGE, middle + EDGE + 1))
    late = product(range(middle - EDGE, middle + EDGE + 1), range(middle + near + 1, high + 1))
    fades = [(middle - k, middle + k) for k in range(1, round(FADE / STEP) + 1)]
    return [*replaced, *fades, *early, *late]


def _contrast(costs: tuple[F64, F64, F64], low: int, high: int) -> float:
    """How much worse each shot's sound is explained by the other shot's spectra than by its own; the lesser of both."""
    before, after, _ = costs
    return float(min((after - before)[:low].mean(), (before - after)[high:].mean()))
