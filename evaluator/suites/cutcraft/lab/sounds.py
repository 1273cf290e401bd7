"""Sounds of our own making: ambience, music, speech-like voices and noise.

Recognisable enough to differ as scenes do, harmless enough to ship: nothing here was recorded. A voice is a buzz of
glottal pulses through moving formants with syllables and pauses; it says nothing. Mono float64 at SOUND_RATE,
deterministic by generator. `library` has names and levels.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import butter, lfilter, sosfilt

from evaluator.media.types import F64
from evaluator.suites.cutcraft.lab.recipe import SOUND_RATE

Maker = Callable[[int, np.random.RandomState], F64]
"""(samples, generator) -> [samples]"""

VOWELS = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410))
"""First three formants in Hz (Peterson and Barney 1952, men's averages of five vowels)."""


def band_noise(low: float, high: float, flutter: float = 0.0) -> Maker:
    """Noise between two frequencies; `flutter` is how strongly its level wanders."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        noise = passed(draw.standard_normal(samples), low, high)
        slow = passed(draw.standard_normal(samples), 0.5, 4.0)
        return np.asarray(noise * (1.0 + flutter * np.tanh(slow / slow.std())))

    return maker


def pad(root: float) -> Maker:
    """Soft chords that change every 0.8 to 1.2 s."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        out, place = np.zeros(samples), 0
        while place < samples:
            length = min(samples - place, round(draw.uniform(0.8, 1.2) * SOUND_RATE))
            time = np.arange(length) / SOUND_RATE
            base = root * 2 ** (draw.choice([0, 2, 4, 5, 7]) / 12)
            tones = [np.sin(2 * np.pi * base * ratio * time) * 0.7**k for k, ratio in enumerate((1, 1.26, 1.5, 2, 3))]
            out[place : place + length] = sum(tones) * np.minimum(1, np.minimum(time, time[::-1]) / 0.05)
            place += length
        return out

    return maker


def beat(tempo: float) -> Maker:
    """Drum and cymbal, `tempo` beats a minute."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        out, step = np.zeros(samples), round(30 / tempo * SOUND_RATE)
        tail = np.arange(round(0.2 * SOUND_RATE)) / SOUND_RATE
        drum = np.sin(2 * np.pi * 60 * tail) * np.exp(-tail / 0.06)
        for number, place in enumerate(range(0, samples, step)):
            cymbal = 0.4 * passed(draw.standard_normal(len(tail)), 6000, 12000) * np.exp(-tail / 0.03)
            hit = (drum if number % 2 == 0 else 0.0) + cymbal
            out[place : place + len(tail)] += hit[: samples - place]
        return out

    return maker


def pluck(root: float) -> Maker:
    """A plucked string (Karplus and Strong 1983) over a pentatonic scale."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        out, place = np.zeros(samples), 0
        while place < samples:
            pitch = root * 2 ** (draw.choice([0, 2, 4, 7, 9, 12]) / 12)
            length = min(samples - place, round(0.6 * SOUND_RATE))
            period = round(SOUND_RATE / pitch)
            burst = np.zeros(length)
            burst[: min(period, length)] = draw.uniform(-1, 1, min(period, length))
            loop = np.concatenate([[1.0], np.zeros(period - 1), [-0.497, -0.497]])
            out[place : place + length] += lfilter([1.0], loop, burst)
            place += round(draw.choice([0.15, 0.3]) * SOUND_RATE)
        return out

    return maker


def voice(pitch: float, size: float, pace: float) -> Maker:
    """A speaker: mean pitch in Hz, formants divided by `size`, syllables per second."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        out, place = np.zeros(samples), 0
        while place < samples:
            length = min(samples - place, round(draw.uniform(0.7, 1.3) / pace * SOUND_RATE))
            if draw.uniform() > 0.15:  # else a pause
                out[place : place + length] = _syllable(length, pitch * draw.uniform(0.85, 1.2), size, draw)
            place += length
        return out

    return maker


def _syllable(length: int, pitch: float, size: float, draw: np.random.RandomState) -> F64:
    time = np.arange(length) / SOUND_RATE
    phase = np.cumsum(pitch * (1 + 0.03 * np.sin(2 * np.pi * 5 * time))) / SOUND_RATE
    pulses = np.diff(np.floor(phase), prepend=0.0) + 0.03 * draw.standard_normal(length)
    for formant in VOWELS[draw.randint(len(VOWELS))]:
        pulses = _resonance(pulses, formant / size, 60 + formant / 20)
    hiss = 0.02 * passed(draw.standard_normal(length), 3500, 8000) * (time < 0.05)
    return np.asarray((pulses / np.abs(pulses).max() + hiss) * np.sin(np.pi * np.linspace(0, 1, length)) ** 0.5)


def _resonance(samples: F64, hertz: float, width: float) -> F64:
    radius, angle = np.exp(-np.pi * width / SOUND_RATE), 2 * np.pi * hertz / SOUND_RATE
    return np.asarray(lfilter([1.0], [1.0, -2 * radius * np.cos(angle), radius**2], samples))


def engine(hertz: float) -> Maker:
    """Harmonics of a slow rotation over a rumble."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        time = np.arange(samples) / SOUND_RATE
        turn = 2 * np.pi * hertz * np.cumsum(1 + 0.02 * np.sin(2 * np.pi * 0.7 * time)) / SOUND_RATE
        tones = sum(np.sin(k * turn + draw.uniform(0, 6)) / k for k in range(1, 24))
        return np.asarray(tones + 0.3 * passed(draw.standard_normal(samples), 40, 300))

    return maker


def impacts(rate: float, low: float, high: float) -> Maker:
    """Irregular short knocks, `rate` a second, over a trace of noise."""

    def maker(samples: int, draw: np.random.RandomState) -> F64:
        hits = np.zeros(samples)
        places = draw.randint(0, samples, max(1, round(rate * samples / SOUND_RATE)))
        hits[places] = draw.uniform(0.3, 1.0, len(places))
        decay = np.exp(-np.arange(round(0.15 * SOUND_RATE)) / (0.03 * SOUND_RATE))
        envelope = np.convolve(hits, decay)[:samples] + 0.02
        return np.asarray(envelope * passed(draw.standard_normal(samples), low, high))

    return maker


def passed(noise: F64, low: float, high: float) -> F64:
    """What of [T] lies between two frequencies in Hz."""
    return np.asarray(sosfilt(butter(2, (low, high), "bandpass", fs=SOUND_RATE, output="sos"), noise))


def crowd(samples: int, draw: np.random.RandomState) -> F64:
    """Many voices at once."""
    people = [voice(draw.uniform(95, 240), draw.uniform(0.85, 1.1), draw.uniform(3, 5)) for _ in range(6)]
    return np.asarray(np.sum([person(samples, draw) for person in people], axis=0))
