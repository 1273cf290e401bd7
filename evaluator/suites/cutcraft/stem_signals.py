"""What the reference takes from stems at a cut: is the music the same, does something begin, does speech go on?

Signals of D3 in the profile `compat` (CutCraft spec 8.1 and 8.2). Word times are not known here, only those of
utterances: a gap inside an utterance is not seen. All times are on the stems' own clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.fft import dct

from evaluator.experts.features import SoundStems, StemTags, Transcript, Utterance
from evaluator.experts.spectral import decibels, hann, mel_bank, mel_spectrogram
from evaluator.media.types import F32, F64
from evaluator.metrics.arithmetic import clip01
from evaluator.suites.cutcraft.alignment import Span
from evaluator.suites.cutcraft.labels import Relation
from evaluator.suites.cutcraft.object_sounds import Crossing, crossing
from evaluator.suites.cutcraft.onsets import BANDS, FFT, HOP, onset_near
from evaluator.suites.cutcraft.stems import music

CEPSTRA = 13
SIDE, LEAST, SHORTEST = 0.3, 0.05, 0.1  # seconds of music on each side; below which nothing; below which no cepstra
SAME, EQUAL = 0.85, 0.45  # cosine of cepstra and ratio of levels above which the music goes on
CHANGED, STEADY = 0.45, 0.35  # sync from which the sound changes with the cut, and below which it stays
GAP, NEAR = 0.1, 0.15  # seconds of a pause in speech, and of its beginning from the cut
INSIDE, BESIDE = 0.15, 0.35  # seconds of speech on both sides of a cut, and in which the voices are measured
AUDIBLE, BALANCED = 1e-4, 0.25  # RMS of the voices, and the least ratio of both sides
OWNED = 0.25  # seconds of the next shot that an object's sound must fill to decide
TRUSTED = 0.5
TINY = 1e-6


@dataclass(frozen=True, slots=True)
class StemSignals:
    """Signals of one cut, named as in the spec."""

    sync: float  # 0..1, how much the music changes at the cut
    continuous: bool  # the music goes on
    onset: bool  # something begins near the cut
    speech_gap: bool  # a pause in the speech begins with the cut
    speech_overlap: bool  # speech goes on over the cut
    crossing: Crossing | None

    @property
    def clear_sync(self) -> bool:
        """The sound changes with the picture."""
        return self.speech_gap or (self.sync >= CHANGED and not self.speech_overlap)

    @property
    def steady(self) -> bool:
        """The background goes on and nobody owns what is heard."""
        owned = self.onset or self.speech_overlap or self.crossing is not None
        return self.continuous and not owned and self.sync < STEADY

    @property
    def relation(self) -> Relation | None:
        """What the signals decide before anybody is asked: an object's sound, then a clear change."""
        moved = self.crossing is not None and self.crossing.after > OWNED
        if moved and self.crossing is not None and self.crossing.relation in {Relation.J_CUT, Relation.L_CUT}:
            return self.crossing.relation
        return Relation.STRAIGHT if self.clear_sync and not moved else None

    @property
    def fallback(self) -> Relation | None:
        """And where a judge cannot tell either; None is the reference's "unclear", which matches nothing."""
        return Relation.STRAIGHT if self.clear_sync or self.steady else None


def signals(stems: SoundStems, tags: StemTags, words: Transcript, cut: float, before: Span, after: Span) -> StemSignals:
    """The signals at a cut between two shots."""
    env, spoken = music(stems, stems.rate, stems.start), trusted(words)
    sync, continuous = continuity(env, stems.rate, cut)
    gap = speech_gap(spoken, cut)
    return StemSignals(
        sync,
        continuous,
        onset=onset_near(env, cut, stems.rate),
        speech_gap=gap,
        speech_overlap=not gap and speech_overlap(spoken, stems, cut),
        crossing=crossing(stems, tags, cut, before, after),
    )


def continuity(env: F32, rate: int, cut: float) -> tuple[float, bool]:
    """(how much the music changes at a cut 0..1, whether it goes on); (0, False) without music on both sides."""
    sides = [part(env, rate, cut + low, cut + high) for low, high in ((-SIDE, 0.0), (0.0, SIDE))]
    if min(map(len, sides)) < LEAST * rate:
        return 0.0, False
    alike = _cosine(*(cepstra(side, rate) for side in sides))
    levels = sorted(_rms(side) for side in sides)
    ratio = levels[0] / levels[1] if levels[0] > TINY else 0.0
    sync = max(clip01(1.0 - alike) if alike > 0.0 else 0.0, clip01(1.0 - ratio) if ratio > 0.0 else 0.0)
    return sync, alike > SAME and ratio > EQUAL


def cepstra(samples: F32, rate: int) -> F64:
    """Mean of 13 mel cepstra [13] in the geometry of librosa's defaults; zeros for less than a tenth of a second."""
    if len(samples) < SHORTEST * rate:
        return np.zeros(CEPSTRA)
    bank = mel_bank(rate, FFT, BANDS, 0.0, rate / 2, "slaney", unit_area=True)
    power = mel_spectrogram(np.pad(samples.astype(np.float64), FFT // 2), hann(FFT, FFT), HOP, bank, power=2)
    return np.asarray(dct(decibels(power, 1e-10), type=2, norm="ortho", axis=1)[:, :CEPSTRA].mean(axis=0))


def trusted(words: Transcript) -> list[Utterance]:
    """Utterances with text that are probably speech, in order of time."""
    found = [one for one in words.utterances if one.text.strip() and 1.0 - one.no_speech >= TRUSTED]
    return sorted(found, key=lambda one: one.start)


def speech_gap(spoken: Sequence[Utterance], cut: float) -> bool:
    """Whether a pause between two utterances begins with the cut."""
    return any(b.start - a.end >= GAP and abs(a.end - cut) <= NEAR for a, b in pairwise(spoken))


def speech_overlap(spoken: Sequence[Utterance], stems: SoundStems, cut: float) -> bool:
    """Whether an utterance goes on over the cut, with voices on both sides of it."""
    voices = stems.mono["vocals"]
    quiet, loud = sorted(
        _rms(part(voices, stems.rate, cut + low, cut + high)) for low, high in ((-BESIDE, 0.0), (0.0, BESIDE))
    )
    reaches = any(cut - one.start >= INSIDE and one.end - cut >= INSIDE for one in spoken)
    return reaches and quiet > AUDIBLE and quiet > BALANCED * loud


def part(samples: F32, rate: int, low: float, high: float) -> F32:
    """The samples between two seconds."""
    return samples[max(0, round(low * rate)) : max(0, round(high * rate))]


def _rms(samples: F32) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) if len(samples) else 0.0


def _cosine(a: F64, b: F64) -> float:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0.0 else 0.0
