"""How one shot gives way to another: the five optical effects of CutCraft and a slow fade, frame by frame.

Both shots go on moving while the effect lasts. Blends are made on the stored values, as editing software does. Knows no
files and no sound.
"""

from __future__ import annotations

import cv2
import numpy as np

from evaluator.media.types import F64, U8
from evaluator.suites.cutcraft.lab.recipe import CUT, RATE, Recipe

WHITE, BLACK = 255.0, 0.0
HOLD = 0.2
"""Share of a slow fade that stays black."""

DIRECTIONS = ("right", "left", "down", "up", "iris", "diagonal")
"""Where a wipe's border goes; an iris opens from the middle."""
SOFT_BORDERS = (0.0, 0.03, 0.08)
"""Width of a wipe's border, as a share of the way that it goes."""


def joined(a: U8, b: U8, recipe: Recipe) -> U8:
    """Two shots [N, H, W, 3] of full length -> the clip [N, H, W, 3]."""
    draw = np.random.RandomState(recipe.seed)
    direction, border = DIRECTIONS[draw.randint(len(DIRECTIONS))], SOFT_BORDERS[draw.randint(len(SOFT_BORDERS))]
    frames = []
    for number in range(len(a)):
        place = progress(number, recipe)
        if place <= 0.0 or place >= 1.0:
            frames.append(a[number] if place <= 0.0 else b[number])
        elif recipe.kind == "wipe":
            frames.append(_mixed(a[number], b[number], wipe_mask(a.shape[1:3], place, direction, border)))
        elif recipe.kind == "dissolve":
            frames.append(_mixed(a[number], b[number], np.full((1, 1), place)))
        else:
            frames.append(_through(a[number], b[number], place, recipe.kind))
    return np.stack(frames)


def progress(number: int, recipe: Recipe) -> float:
    """How far the effect has come at a frame: 0 before it, 1 after it."""
    if recipe.effect_seconds == 0.0:
        return float(number >= round(CUT * RATE))
    begin, end = recipe.effect
    return float(np.clip((number / RATE - begin) / (end - begin), 0.0, 1.0))


def wipe_mask(shape: tuple[int, ...], place: float, direction: str, border: float) -> F64:
    """Share of the second shot [H, W] in each pixel when a wipe has come `place` of its way."""
    y, x = np.meshgrid(np.linspace(0, 1, shape[0]), np.linspace(0, 1, shape[1]), indexing="ij")
    way = {
        "right": x,
        "left": 1 - x,
        "down": y,
        "up": 1 - y,
        "diagonal": (x + y) / 2,
        "iris": np.hypot(x - 0.5, y - 0.5) / np.hypot(0.5, 0.5),
    }[direction]
    if border == 0.0:
        return np.asarray(way < place, np.float64)
    return np.asarray(np.clip((place * (1 + border) - way) / border, 0.0, 1.0))


def _mixed(a: U8, b: U8, share: F64) -> U8:
    """(1 - share) a + share b; share is [H, W] or [1, 1]."""
    mixed = a + share[..., None] * (b.astype(np.float64) - a)
    return np.asarray(np.rint(mixed), np.uint8)


def _through(a: U8, b: U8, place: float, kind: str) -> U8:
    """The first half goes to a colour, the second comes from it."""
    hold = HOLD if kind == "fade" else 0.0
    strength = np.clip((1.0 - abs(2.0 * place - 1.0)) / (1.0 - hold), 0.0, 1.0)
    colour = WHITE if kind == "flash to white" else BLACK
    frame = a if place < 0.5 else b
    return np.asarray(cv2.addWeighted(frame, 1.0 - strength, np.full_like(frame, colour), strength, 0.0), np.uint8)
