"""Which clips the lab makes: every kind of picture change with every sound bridge, the rest drawn from one seed.

The grid is full in kind x bridge; shots, sounds, camera speeds, durations, beds and floors are drawn, each from its own
split. Nothing is made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from evaluator.suites.cutcraft.lab.library import SOUNDS
from evaluator.suites.cutcraft.lab.recipe import KINDS, Recipe
from evaluator.suites.cutcraft.lab.shots import SHOTS
from evaluator.suites.cutcraft.labels import Relation

SPLITS = {"development": 0, "held-out": 2}
"""Every split and the number that its draws start from; 1 was a held-out split until its clips were looked at."""
OFFSETS = (0.2, 0.4, 0.8, 1.2, 2.0)  # seconds, the ends and the middle of what CutCraft's prompts and baseline use
CROSSFADES = (0.0, 0.05, 0.1, 0.2, 0.4)  # seconds, of a straight sound cut
SOFTEST_BRIDGE = 0.1  # seconds; a longer crossfade would blur an offset of 0.2 s
SPEEDS = (0.0, 1.0, 2.0, 4.0, 8.0)  # pixels per frame at 320 x 180, as in the spec's table of failures
FLOORS = (1e-4, 1e-3, 3e-3)  # RMS of the noise under everything
DURATIONS = {
    "hard cut": (0.0, 0.0),
    "dissolve": (0.3, 1.0),
    "wipe": (0.3, 1.0),
    "flash to white": (0.2, 0.6),
    "flash to black": (0.2, 0.6),
    "fade": (0.8, 1.4),
}
"""Seconds, shortest and longest."""

Bridge = tuple[Relation, float, float]
"""(relation, offset, longest crossfade)"""


def bridges() -> Iterator[Bridge]:
    """As many straight joins as J-cuts and as L-cuts."""
    for offset, crossfade in zip(OFFSETS, CROSSFADES, strict=True):
        yield Relation.STRAIGHT, 0.0, crossfade
        yield Relation.J_CUT, offset, SOFTEST_BRIDGE
        yield Relation.L_CUT, offset, SOFTEST_BRIDGE


def recipes(split: str, seed: int = 0, sounds: Sequence[str] = (), rounds: int = 1) -> list[Recipe]:
    """The clips of one split; `sounds` replaces the sounds of that split. Another seed draws other clips."""
    draw = np.random.RandomState((seed, SPLITS[split]))
    pictures = [name for name, source in SHOTS.items() if source.split == split]
    voices = list(sounds) or [name for name, (_, where) in SOUNDS.items() if where == split]
    grid = product(range(rounds), KINDS, bridges())
    return [_recipe(split, number, *cell[1:], pictures, voices, draw) for number, cell in enumerate(grid)]


def _recipe(
    split: str,
    number: int,
    kind: str,
    bridge: Bridge,
    pictures: Sequence[str],
    voices: Sequence[str],
    draw: np.random.RandomState,
) -> Recipe:
    relation, offset, softest = bridge
    straight = relation is Relation.STRAIGHT
    first, second = draw.choice(len(voices), 2, replace=False)
    beds = ["", "", *(name for name in voices if name not in {voices[first], voices[second]})]
    return Recipe(
        name=f"{split}-{number:03d}",
        split=split,
        kind=kind,
        effect_seconds=round(float(draw.uniform(*DURATIONS[kind])), 3),
        shots=_two(pictures, draw),
        speeds=(float(draw.choice(SPEEDS)), float(draw.choice(SPEEDS))),
        relation=relation,
        offset=offset,
        overlap=bool(draw.randint(2)),
        crossfade=softest if straight else float(draw.choice((0.0, softest))),
        sounds=(voices[first], voices[second]),
        bed=beds[draw.randint(len(beds))],
        floor=float(draw.choice(FLOORS)),
        seed=int(draw.randint(2**31)),
    )


def _two(names: Sequence[str], draw: np.random.RandomState) -> tuple[str, str]:
    a, b = draw.choice(len(names), 2, replace=False)
    return names[a], names[b]
