"""The sounds of the lab by name, each in one split, and sounds out of your own files in their place.

Every sound has one level. Mono float64 at SOUND_RATE.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from evaluator.errors import PrerequisiteError
from evaluator.media.decode import decode
from evaluator.media.probe import probe
from evaluator.media.types import F64
from evaluator.schema import AudioView
from evaluator.suites.cutcraft.lab.recipe import SOUND_RATE
from evaluator.suites.cutcraft.lab.scenery import bells, crickets, fan, flute, train, waves
from evaluator.suites.cutcraft.lab.sounds import (
    Maker,
    band_noise,
    beat,
    crowd,
    engine,
    impacts,
    pad,
    pluck,
    voice,
)

LEVEL = 0.1
"""Root mean square of every sound, full scale 1."""
SILENT = 1e-4
"""Root mean square below which a file is not a sound."""

Make = Callable[[str, float, int], F64]
"""(name, seconds, seed) -> [T] at LEVEL"""

SOUNDS: dict[str, tuple[Maker, str]] = {
    "traffic": (band_noise(80, 700, 0.3), "development"),
    "leaves": (band_noise(1500, 6000, 0.5), "development"),
    "chords": (pad(220.0), "development"),
    "drums": (beat(120.0), "development"),
    "man": (voice(115.0, 1.0, 4.0), "development"),
    "woman": (voice(205.0, 0.87, 4.5), "development"),
    "rain": (band_noise(600, 9000, 0.2), "development"),
    "motor": (engine(45.0), "development"),
    "strings": (pluck(196.0), "development"),
    "organ": (pad(130.8), "development"),
    "boy": (voice(260.0, 0.8, 5.0), "development"),
    "elder": (voice(95.0, 1.05, 3.2), "development"),
    "crowd": (crowd, "development"),
    "workshop": (impacts(6.0, 800, 5000), "development"),
    "waves": (waves, "held-out"),
    "bells": (bells, "held-out"),
    "flute": (flute, "held-out"),
    "fan": (fan, "held-out"),
    "crickets": (crickets, "held-out"),
    "train": (train, "held-out"),
    "girl": (voice(235.0, 0.83, 3.8), "held-out"),
    "uncle": (voice(108.0, 1.02, 4.4), "held-out"),
}
"""Every sound and the split in which it is used."""


def make(name: str, seconds: float, seed: int) -> F64:
    """[T] of one sound at LEVEL."""
    return _levelled(SOUNDS[name][0](round(seconds * SOUND_RATE), np.random.RandomState(seed)))


def recorded(folder: Path) -> dict[str, F64]:
    """The sound of every audible file in a folder [T at SOUND_RATE], by file name. Raises PrerequisiteError if fewer
    than two are audible, MediaError for a file that cannot be read."""
    view, found = AudioView(SOUND_RATE, missing="silence"), {}
    for path in sorted(one for one in folder.iterdir() if one.is_file()):
        sound = decode(path, probe(path), [], [view])[0][view].float32.astype(np.float64)
        if len(sound) and np.sqrt(np.mean(np.square(sound))) > SILENT:
            found[path.name] = sound
    if len(found) < 2:
        raise PrerequisiteError(f"The lab needs two audible files in {folder} to join their sounds.")
    return found


def excerpts(sounds: dict[str, F64]) -> Make:
    """A maker of stretches out of recorded sounds, which are repeated where they are too short."""

    def maker(name: str, seconds: float, seed: int) -> F64:
        count, sound = round(seconds * SOUND_RATE), sounds[name]
        whole = np.tile(sound, -(-count // len(sound)) + 1) if len(sound) < count else sound
        start = np.random.RandomState(seed).randint(0, len(whole) - count + 1)
        return _levelled(whole[start : start + count])

    return maker


def _levelled(sound: F64) -> F64:
    return np.asarray(sound * (LEVEL / max(float(np.sqrt(np.mean(np.square(sound)))), SILENT)))
