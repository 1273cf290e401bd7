"""D1 to D3 of CutCraft as numbers per transition and per clip: what was asked against what was measured (spec 7, 8).

A transition one of whose shots is missing counts 0, as in the spec; one for which a signal is not there counts nothing
unless the profile says so. Asks no judge; routing of D1 labels to a judge belongs to the suite's questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluator.experts.features import AudioTags, Embeddings
from evaluator.media.types import F64
from evaluator.metrics.arithmetic import clip01, cosine
from evaluator.suites.cutcraft import labels
from evaluator.suites.cutcraft.flags import Defects
from evaluator.suites.cutcraft.labels import Optical, Relation

NEAR = 1.0  # seconds, strict
HALF = frozenset({Optical.DISSOLVE, Optical.WIPE})
GRAPHIC_MATCH = 0.7  # cosine that is already a full visual match


@dataclass(frozen=True, slots=True)
class Candidate:
    """A measured transition, whichever profile measured it."""

    time: float  # seconds: the cut (`paper`), or the start of the transition (`compat`)
    optical: Optical


def wanted_optical(label: str, defects: Defects) -> Optical:
    """Class of a prompt's `optical_effect`; D-01: the reference reads both flash-to-* as hard cuts."""
    return labels.optical_by_words(label) if defects.flash_labels_are_hard_cuts else labels.optical(label)


def match_transitions(
    cuts: Sequence[float | None], found: Sequence[Candidate], defects: Defects
) -> list[Candidate | None]:
    """The measured transition of each cut; None for a cut that is None or has none within NEAR.

    `paper`: pairs of cut and transition are joined from the nearest up, each transition once. D-17: the reference takes
    the first one in time for each cut, so one transition may serve two cuts.
    """
    if defects.first_transition:
        ordered = sorted(found, key=lambda one: one.time)
        return [
            None if cut is None else next((one for one in ordered if abs(one.time - cut) < NEAR), None) for cut in cuts
        ]
    pairs = sorted(
        (abs(one.time - cut), i, j)
        for i, cut in enumerate(cuts)
        if cut is not None
        for j, one in enumerate(found)
        if abs(one.time - cut) < NEAR
    )
    chosen: list[Candidate | None] = [None] * len(cuts)
    used: set[int] = set()
    for _, i, j in pairs:
        if chosen[i] is None and j not in used:
            chosen[i] = found[j]
            used.add(j)
    return chosen


def optical_credit(wanted: Optical, found: Candidate | None) -> float:
    """1 for the class that was asked for, half for a wipe in place of a dissolve or the other way round, else 0."""
    if found is None:
        return 0.0
    if found.optical is wanted:
        return 1.0
    return 0.5 if {found.optical, wanted} == HALF else 0.0


def relation_credit(wanted: Relation, found: Relation | None) -> float:
    """1 if equal, else 0."""
    return float(found is wanted)


def visual_match(embeddings: Embeddings, times: F64, cut: float, cut_is_old: bool = False) -> float | None:
    """Cosine of the last picture of the old shot and the first one of the new; None without one of them.

    D1: `graphic_match` of it, and 1 less it for a contrast cut. times: [N] seconds of the embedded frames. A picture at
    the cut itself is the new shot's first one, or with `cut_is_old` the old one's last, as the reference dates cuts.
    Its times are whole milliseconds.
    """
    after = int(np.searchsorted(np.round(times, 3), cut, side="right") if cut_is_old else np.searchsorted(times, cut))
    if after == 0 or after >= len(times):
        return None
    return cosine(embeddings.vectors[after - 1], embeddings.vectors[after])


def graphic_match(similarity: float) -> float:
    """D1, visual and graphic match: full from a cosine of 0.7 on."""
    return clip01(min(1.0, similarity / GRAPHIC_MATCH))


def contrast_cut(similarity: float) -> float:
    """D1, contrast cut."""
    return clip01(1.0 - similarity)


def sound_match(tags: AudioTags, cut: float, seconds: float = 1.0) -> float | None:
    """D1, sound match: cosine of the mean tag probabilities of a second before and a second after a cut.

    Tags stand in for the reference's PANNs embeddings. None where a side has no patch. Patches that reach over the cut
    belong to neither side (the reference's two segments may both lie before it, D-16).
    """
    start = np.arange(len(tags.probability)) * tags.step
    length = 2 * tags.step  # patches overlap by half
    before = (start + length <= cut + 1e-9) & (start + length > cut - seconds)
    after = (start >= cut - 1e-9) & (start < cut + seconds)
    if not before.any() or not after.any():
        return None
    return clip01(cosine(tags.probability[before].mean(axis=0), tags.probability[after].mean(axis=0)))
