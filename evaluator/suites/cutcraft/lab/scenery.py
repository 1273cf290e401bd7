"""More sounds of our own making, heard in the held-out split only. See `sounds`."""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64
from evaluator.suites.cutcraft.lab.recipe import SOUND_RATE
from evaluator.suites.cutcraft.lab.sounds import passed


def waves(samples: int, draw: np.random.RandomState) -> F64:
    """Surf that swells every two to three seconds."""
    time = np.arange(samples) / SOUND_RATE
    swell = 0.6 + 0.4 * np.sin(2 * np.pi * draw.uniform(0.35, 0.5) * time + draw.uniform(0, 6))
    hiss, roar = (passed(draw.standard_normal(samples), *edges) for edges in ((1000, 6000), (100, 800)))
    return np.asarray(roar + 0.8 * swell * hiss)


def bells(samples: int, draw: np.random.RandomState) -> F64:
    """Strokes with inharmonic partials, one to three a second."""
    out, place = np.zeros(samples), 0
    while place < samples:
        time = np.arange(min(samples - place, SOUND_RATE)) / SOUND_RATE
        root = draw.choice([523.0, 587.0, 659.0, 784.0])
        for k, ratio in enumerate((0.5, 1.0, 1.19, 1.5, 2.0, 2.74)):
            out[place : place + len(time)] += 0.8**k * np.sin(2 * np.pi * root * ratio * time) * np.exp(-time * (2 + k))
        place += round(draw.uniform(0.3, 0.9) * SOUND_RATE)
    return out


def flute(samples: int, draw: np.random.RandomState) -> F64:
    """Breathy notes with vibrato."""
    out, place = np.zeros(samples), 0
    while place < samples:
        length = min(samples - place, round(draw.uniform(0.25, 0.6) * SOUND_RATE))
        time = np.arange(length) / SOUND_RATE
        pitch = 440.0 * 2 ** (draw.choice([0, 3, 5, 7, 10]) / 12)
        phase = 2 * np.pi * np.cumsum(pitch * (1 + 0.01 * np.sin(2 * np.pi * 5.5 * time))) / SOUND_RATE
        breath = passed(draw.standard_normal(length), 2000, 7000)
        note = np.sin(phase) + 0.3 * np.sin(2 * phase) + 0.1 * np.sin(3 * phase) + 0.15 * breath
        out[place : place + length] = note * np.minimum(1, np.minimum(time, time[::-1]) / 0.04)
        place += length
    return out


def fan(samples: int, draw: np.random.RandomState) -> F64:
    """Mains hum and moving air."""
    time = np.arange(samples) / SOUND_RATE
    hum = sum(np.sin(2 * np.pi * 100 * k * time + draw.uniform(0, 6)) / k for k in (1, 2, 3, 5))
    return np.asarray(0.5 * hum + passed(draw.standard_normal(samples), 150, 2500))


def crickets(samples: int, draw: np.random.RandomState) -> F64:
    """Two insects that chirp in groups of pulses, over a little wind."""
    time = np.arange(samples) / SOUND_RATE
    out = 0.1 * passed(draw.standard_normal(samples), 100, 1000)
    for tone, pace in ((4200.0, 1.7), (4900.0, 2.3)):
        pulses = np.clip(np.sin(2 * np.pi * 28 * time), 0, 1)
        group = (np.sin(2 * np.pi * pace * time + draw.uniform(0, 6)) > -0.2).astype(np.float64)
        out += np.sin(2 * np.pi * tone * time) * pulses * group
    return np.asarray(out)


def train(samples: int, draw: np.random.RandomState) -> F64:
    """Rumble, and wheels over rail joints in pairs."""
    time = np.arange(samples) / SOUND_RATE
    beat = (time + draw.uniform(0, 0.8)) % 0.8
    knocks = np.exp(-beat / 0.04) + np.exp(-np.where(beat > 0.2, beat - 0.2, 9.0) / 0.04)
    rumble, clatter = (passed(draw.standard_normal(samples), *edges) for edges in ((40, 250), (300, 3000)))
    return np.asarray(rumble + 1.5 * knocks * clatter)
