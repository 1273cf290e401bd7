"""Who speaks when, by ear alone: windows of speech with like voices belong to one speaker.

Turns of speech are cut into windows of 1.6 s, each gets Resemblyzer's vector, and windows are joined from the bottom up
while the mean cosine between two groups is 0.6 or more (average linkage). Measured at these settings on eleven voices,
five of them recorded: windows of one voice have a mean cosine of 0.64 to 0.9, of two recorded voices 0.37 to 0.53, of a
synthesiser's male and female voices 0.57 to 0.62. So similar voices become one speaker, and a turn under 1.2 s belongs
to nobody. People who speak at the same time are one voice of their own. How many speakers there are is not told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage

from evaluator.errors import NotApplicable
from evaluator.experts.composed import Composed
from evaluator.experts.features import SpeechActivity, VoicesApart
from evaluator.experts.pixels import unit_rows
from evaluator.experts.resemblyzer import BATCH, FILE, HOP, LEAST_COVERAGE, PARTIAL, louder, partials
from evaluator.experts.waveform import RATE, samples_of, sound_need
from evaluator.media.types import F32, I64
from evaluator.runtime.session import run_padded
from evaluator.schema import ExpertNeed, Need

WINDOW = PARTIAL * HOP / RATE
"""Seconds, 1.6: what the network hears at once."""
STEP = 0.4
"""Seconds from one window to the next."""
LEAST = LEAST_COVERAGE * WINDOW
"""Seconds of the shortest turn that has a voice."""
PAUSE = 0.3
"""Seconds of silence that do not end a turn."""
ALIKE = 0.6
"""Mean cosine of two groups of windows from which they are one voice."""

Span = tuple[float, float]


class VoicesApartExpert(Composed):
    """capability `voices_apart`. A clip without a turn that is long enough is not applicable."""

    id = "voices_apart"
    capability = "voices_apart"
    stands_in_for = "ECAPA-TDNN"
    weights = ("resemblyzer",)

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": sound_need(want), "speech": ExpertNeed("speech_activity", roles=want.roles[:1])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> VoicesApart:
        samples = louder(samples_of(inputs["audio"], "Resemblyzer"))
        found = [span for turn in turns(inputs["speech"]) for span in windows(turn)]
        if not found:
            raise NotApplicable("not_applicable", f"no turn of speech lasts {LEAST:.1f} s")
        heard = [samples[round(start * RATE) : round(end * RATE)] for (start, end), _ in found]
        session = self.sessions.session("resemblyzer", FILE)
        mels = np.concatenate([partials(one) for one in heard])  # [W, 160, 40]
        vectors = run_padded(session, "mels", mels, BATCH)["embedding"]  # [W, 256], each of length 1
        return apart(vectors, [owned for _, owned in found])


def turns(speech: SpeechActivity) -> list[Span]:
    """Segments of speech, joined over short pauses, that are long enough to know a voice by."""
    joined: list[Span] = []
    for start, end in speech.segments():
        if joined and start - joined[-1][1] < PAUSE:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return [(start, end) for start, end in joined if end - start >= LEAST]


def windows(turn: Span) -> list[tuple[Span, Span]]:
    """(what a window hears, the part of the turn that it speaks for) of one turn; the parts are the whole turn."""
    start, end = turn
    starts = start + STEP * np.arange(1 + max(0, int((end - start - WINDOW) / STEP)))
    middles = (starts[:-1] + starts[1:] + WINDOW) / 2
    edges = [start, *middles.tolist(), end]
    return [((one, min(end, one + WINDOW)), owned) for one, owned in zip(starts.tolist(), pairwise(edges), strict=True)]


def apart(vectors: F32, owned: Sequence[Span]) -> VoicesApart:
    """The speakers among windows [W, D], in the order in which they are first heard."""
    labels = _groups(vectors)
    order = list(dict.fromkeys(labels.tolist()))
    rows = [np.flatnonzero(labels == label) for label in order]
    return VoicesApart(
        vectors=unit_rows(np.stack([vectors[own].mean(axis=0) for own in rows])),
        turns=tuple(_merged([owned[at] for at in own]) for own in rows),
    )


def _groups(vectors: F32) -> I64:
    """A label per window."""
    if len(vectors) == 1:
        return np.ones(1, np.int64)
    tree = linkage(vectors.astype(np.float64), method="average", metric="cosine")
    return np.asarray(fcluster(tree, t=1.0 - ALIKE, criterion="distance"), np.int64)


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours that touch become one."""
    found: list[Span] = []
    for start, end in spans:
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return tuple(found)


EXPERT = VoicesApartExpert
