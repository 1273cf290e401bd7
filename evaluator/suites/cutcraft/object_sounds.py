"""Things that sound across a cut: D3's object sounds in the profile `compat` (CutCraft spec 8.1).

Half-second windows of each stem are noise, or something with a name; windows of one kind in one stem that follow each
other are a run, and the run that reaches farthest over the cut says whose sound it is. Tags are YAMNet's in place of
PANNs'; both have AudioSet's names. The spec lists words and families; which word is of which family is our reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluator.experts.features import AudioTags, SoundStems, StemTags
from evaluator.media.types import F32
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.labels import Relation

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "guitar": ("guitar", "string", "strum", "pluck"),
    "percussion": ("drum", "percussion", "cymbal", "bell", "chime"),
    "impact": ("click", "clack", "knock", "tap", "thump", "bang", "crash", "slam", "impact"),
    "machine": ("engine", "motor", "machine", "vehicle"),
    "object": ("piano", "keyboard", "squeak", "creak", "door", "footstep", "skate", "ball", "whistle"),
}
NOISE = (
    *("silence", "wind", "water", "rain", "stream", "ocean", "sea", "waves", "noise", "hum", "static", "rustle"),
    *("background", "ambience", "environment", "room tone"),
)
TAGS, SURE = 5, 0.12  # tags of a window that are read, and the least probability of one that names something
FAINT, QUIET = -42.0, -34.0  # dBFS below which a window is noise in any case, and where noise is heard beside
GAP = 0.6  # seconds between windows of one run
TOGETHER = 0.25  # seconds of the cut within which what begins there begins with it
LONG, EVEN = 1.0, 0.5  # seconds in both shots, and the ratio of these, from which a run belongs to both


@dataclass(frozen=True, slots=True)
class Run:
    """One kind of thing in one stem, as long as it goes on."""

    start: float  # seconds
    end: float
    stem: str
    family: str
    dbfs: float  # of its loudest window


@dataclass(frozen=True, slots=True)
class Crossing:
    """The run that says most about a cut; `relation` is None where it does not say whose it is."""

    run: Run
    relation: Relation | None
    before: float  # seconds of it in the previous shot
    after: float  # and in the next one


def crossing(stems: SoundStems, tags: StemTags, cut: float, before: Span, after: Span) -> Crossing | None:
    """The run that crosses a cut, all times on the stems' own clock; None if nothing does."""
    found = [one for run in runs(stems, tags) if (one := _crossed(run, cut, before, after)) is not None]
    return max(found, key=_rank, default=None)


def runs(stems: SoundStems, tags: StemTags) -> list[Run]:
    """Windows that name something, joined. Only with the last run: windows of another stem between break it."""
    found: list[Run] = []
    for one in sorted(_windows(stems, tags), key=lambda run: (run.start, run.end, run.stem)):
        last = found[-1] if found else None
        if last is not None and (last.family, last.stem) == (one.family, one.stem) and one.start - last.end <= GAP:
            found[-1] = replace(last, end=one.end, dbfs=max(last.dbfs, one.dbfs))
        else:
            found.append(one)
    return found


def _windows(stems: SoundStems, tags: StemTags) -> list[Run]:
    found = []
    for stem, heard in tags.tags.items():
        for place in range(len(heard.probability)):
            low, high = place * heard.step, (place + 1) * heard.step
            level = dbfs(stems.mono[stem][round(low * stems.rate) : round(high * stems.rate)])
            family = named(_top(heard, place), level)
            if family is not None:
                found.append(Run(low, high, stem, family, level))
    return found


def _top(heard: AudioTags, place: int) -> list[tuple[str, float]]:
    one = AudioTags(heard.probability[place : place + 1], heard.names, heard.step)
    return [(name.lower(), share) for name, share in one.top(TAGS)]


def named(tags: Sequence[tuple[str, float]], level: float) -> str | None:
    """Family of what a window names, from tags in lower case, likeliest first; None for noise."""
    families = [(_family(name), share) for name, share in tags]
    something = any(family is not None for family, _ in families)
    noisy = any(word in name for name, _ in tags for word in NOISE)
    if level < FAINT or (noisy and (level < QUIET or not something)):
        return None
    return next((family for family, share in families if family is not None and share >= SURE), None)


def _family(tag: str) -> str | None:
    return next((family for family, words in FAMILIES.items() if any(word in tag for word in words)), None)


def dbfs(samples: F32) -> float:
    """Level of samples, full scale 0 dB; -120 for silence."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    return 10.0 * float(np.log10(max(power, 1e-12)))


def _crossed(run: Run, cut: float, before: Span, after: Span) -> Crossing | None:
    previous, following = (max(0.0, min(run.end, high) - max(run.start, low)) for low, high in (before, after))
    if not (run.start < cut < run.end or min(previous, following) > 0.0):
        return None
    return Crossing(run, _relation(run.start - cut, previous, following), previous, following)


def _relation(start: float, before: float, after: float) -> Relation | None:
    shorter, longer = sorted((before, after))
    if abs(start) <= TOGETHER or (shorter > LONG and shorter >= EVEN * longer):
        return Relation.STRAIGHT
    if before == after:
        return None
    return Relation.L_CUT if before > after else Relation.J_CUT


def _rank(one: Crossing) -> float:
    shorter, longer = sorted((one.before, one.after))
    return shorter + 0.2 * longer + max(0.0, one.run.dbfs + 80.0) / 100.0
