"""The worked example: a clip of three shots with known transitions, its script and its questions, made here.

Shots are those of the transition lab (real ones out of the demo clips), sounds its synthetic ones: a hard cut whose
sound stays on for 0.8 s (L-cut), then a dissolve before which the next sound begins 0.8 s early (J-cut). Clips are not
kept in the repository: `evaluator cutcraft example` makes this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evaluator.media.types import F64, U8
from evaluator.runtime.files import write_atomic
from evaluator.suites.cutcraft.lab import clip
from evaluator.suites.cutcraft.lab.library import make
from evaluator.suites.cutcraft.lab.recipe import RATE, SOUND_RATE
from evaluator.suites.cutcraft.lab.shots import filmed
from evaluator.suites.cutcraft.layout import each_line, importer

SYSTEM = "lab"
CLIPS = "demo/cutcraft"
"""Where the clip is made: among the clips that are made and not kept."""
SETTINGS = {"prompts": "cutcraft/prompt.json", "questions": "cutcraft/question_bank.json", "videos": CLIPS}
MANIFEST = "cutcraft.example.jsonl"
VIDEO = "9101_Three_Streets.mp4"
SHOTS = ("bus", "rabbit", "tram")
SOUNDS = ("traffic", "chords", "man")
SECONDS = 12.0
CUTS = (4.0, 8.0)
DISSOLVE = 0.5  # seconds, of the second transition
OFFSETS = (0.8, -0.8)  # seconds by which sound changes after the picture: an L-cut, a J-cut
SEED = 9101


def pictures(shots: Mapping[str, U8]) -> U8:
    """[N, H, W, 3]"""
    count = round(SECONDS * RATE)
    films = [filmed(shots[name], count, speed) for name, speed in zip(SHOTS, (0.0, 0.0, 1.0), strict=True)]
    frames = []
    for number in range(count):
        time = number / RATE
        share = float(np.clip((time - CUTS[1]) / DISSOLVE + 0.5, 0.0, 1.0))
        if time < CUTS[0]:
            frames.append(films[0][number])
        else:
            mixed = films[1][number] + share * (films[2][number].astype(np.float64) - films[1][number])
            frames.append(np.rint(mixed).astype(np.uint8))
    return np.stack(frames)


def sound() -> F64:
    """[T] at SOUND_RATE: each sound from its own change to the next, both at once while they overlap."""
    sounds = [make(name, SECONDS, SEED + place) for place, name in enumerate(SOUNDS)]
    time = np.arange(len(sounds[0])) / SOUND_RATE
    first_end, last_start = CUTS[0] + OFFSETS[0], CUTS[1] + OFFSETS[1]
    spans = ((0.0, first_end), CUTS, (last_start, SECONDS))
    return np.asarray(sum(one * ((time >= a) & (time < b)) for one, (a, b) in zip(sounds, spans, strict=True)))


def write(manifests: Path, shots: Mapping[str, U8]) -> Path:
    """The clip below the demo clips, and the manifest of its script and questions; returns the manifest's path."""
    place = manifests / CLIPS / SYSTEM / VIDEO
    place.parent.mkdir(parents=True, exist_ok=True)
    clip.write(place, pictures(shots), sound())
    target = manifests / MANIFEST
    write_atomic(target, b"".join(each_line(importer(manifests, SYSTEM, SETTINGS).lines)))
    return target
