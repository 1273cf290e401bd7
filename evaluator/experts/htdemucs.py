"""HTDemucs: the sound of a clip taken apart into drums, bass, other sounds and voices.

Rouard, Massa and Défossez, "Hybrid Transformers for Music Source Separation", ICASSP 2023; used by CutCraft (spec 4.6).
The network is a file that the user mounts. It hears 7.8 s of stereo at 44.1 kHz, as samples and as a spectrum. Longer
sound is heard in windows that overlap by a quarter, each weighted by a triangle; shorter sound is repeated. The
authors' random shift is left out, so equal sound has equal stems; nothing can reproduce that shift (D-33).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from evaluator.errors import ExpertError, NotApplicable
from evaluator.experts.base import Expert
from evaluator.experts.complex_spectra import spectra, waves
from evaluator.experts.features import SoundStems, StemFacts
from evaluator.media.types import F32, F64, Audio
from evaluator.runtime.session import Session
from evaluator.schema import AudioNeed, AudioView, ExpertNeed, Need

FILE = "htdemucs.onnx"
STEMS = ("drums", "bass", "other", "vocals")
"""In the order of the network's outputs."""
VIEW = AudioView(44_100, channels=2)
WINDOW = 343_980  # samples, 7.8 s
STRIDE = int(0.75 * WINDOW)
SILENT = 1e-6  # standard deviation of the mean of both channels below which nothing is taken apart
LONGEST = 600.0  # seconds; the stems of a clip are held in memory, 0.7 MB a second


class HTDemucs(Expert):
    """capability `sound_stems`. Digital silence has silent stems; a clip of more than LONGEST is not applicable."""

    id = "htdemucs"
    capability = "sound_stems"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"audio": AudioNeed(VIEW, role=want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> SoundStems:
        audio: Audio = inputs["audio"]
        seconds = len(audio.samples) / audio.rate
        if not 0.0 < seconds <= LONGEST:
            raise NotApplicable(
                "not_applicable", f"Stems need 0 to {LONGEST:g} s of sound; this clip has {seconds:g} s."
            )
        mix = np.ascontiguousarray(audio.float32.T)  # [2, T]
        return collected(self._pieces(mix), mix.shape[1], audio.start)

    def _pieces(self, mix: F32) -> Iterator[F32]:
        """Consecutive pieces [4, 2, n] of the stems, normalised for the network and back."""
        middle = mix.mean(axis=0, dtype=np.float64)
        mean, deviation = float(middle.mean()), float(middle.std(ddof=1)) if len(middle) > 1 else 0.0
        if deviation < SILENT:
            yield np.zeros((len(STEMS), *mix.shape), np.float32)
            return
        session = self.sessions.session(self.id, FILE)
        for piece in separated(session, ((mix - mean) / deviation).astype(np.float32)):
            yield (piece * deviation + mean).astype(np.float32)


def separated(session: Session, mix: F32) -> Iterator[F64]:
    """Consecutive pieces [4, 2, n] of the stems of normalised sound [2, T]; no more than one window is held."""
    length = mix.shape[1]
    if length < WINDOW:
        repeated = np.tile(mix, -(-WINDOW // length))[:, :WINDOW]
        yield heard(session, repeated)[..., :length]
        return
    weight = triangle(WINDOW)
    sums, weights = np.zeros((len(STEMS), 2, WINDOW)), np.zeros(WINDOW)
    for start in range(0, length, STRIDE):
        size, done = min(WINDOW, length - start), min(STRIDE, length - start)
        sums[..., :size] += weight[:size] * in_context(session, mix, start, size)
        weights[:size] += weight[:size]
        yield sums[..., :done] / weights[:done]
        sums, weights = _moved(sums), _moved(weights)


def in_context(session: Session, mix: F32, start: int, size: int) -> F64:
    """Stems [4, 2, size] of a stretch of the sound, heard in the middle of a window; there is silence outside."""
    first = start - (WINDOW - size) // 2
    low, high = max(0, first), min(mix.shape[1], first + WINDOW)
    window = np.pad(mix[:, low:high], ((0, 0), (low - first, first + WINDOW - high)))
    return heard(session, window)[..., start - first : start - first + size]


def heard(session: Session, window: F32) -> F64:
    """Stems [4, 2, WINDOW] of one window [2, WINDOW]: what both branches of the network say, added."""
    found = session.run({"wave": window[None], "spectrum": spectra(window)[None]})
    own = found["waves"][0].astype(np.float64)  # [4, 2, WINDOW]
    stems: F64 = own + np.stack([waves(one, WINDOW) for one in found["spectra"][0]])
    if not np.isfinite(stems).all():
        raise ExpertError("htdemucs: the network gave numbers that are not finite; mount another file")
    return stems


def triangle(length: int) -> F64:
    """Weights [length] that rise to 1 in the middle, never 0."""
    half = length // 2
    rising, falling = np.arange(1, half + 1), np.arange(length - half, 0, -1)
    return np.asarray(np.concatenate([rising, falling]) / (length - half))


def _moved(sums: F64) -> F64:
    """The sums as the next window has them."""
    return np.concatenate([sums[..., STRIDE:], np.zeros((*sums.shape[:-1], STRIDE))], axis=-1)


def collected(pieces: Iterator[F32], length: int, start: float) -> SoundStems:
    """Mono stems and the facts of the stereo ones, from consecutive pieces [4, 2, n] of `length` samples in all."""
    mono = np.empty((len(STEMS), length), np.float32)
    energy, peak, done = np.zeros(len(STEMS)), np.zeros(len(STEMS)), 0
    for piece in pieces:
        mono[:, done : done + piece.shape[2]] = piece.mean(axis=1)
        energy += np.square(piece, dtype=np.float64).sum(axis=(1, 2))
        peak = np.maximum(peak, np.abs(piece).max(axis=(1, 2)))
        done += piece.shape[2]
    facts = [
        StemFacts(float(np.sqrt(own / (2 * length))), float(most), float(own / (energy.sum() + 1e-8)))
        for own, most in zip(energy, peak, strict=True)
    ]
    return SoundStems(dict(zip(STEMS, mono, strict=True)), dict(zip(STEMS, facts, strict=True)), VIEW.rate, start)


EXPERT = HTDemucs
