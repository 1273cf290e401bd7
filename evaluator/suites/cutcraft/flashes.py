"""Finds flashes and fades: the picture goes to an even white or black and comes back as another shot.

A frame that has become even has little contrast, whatever the shots show; its luminance says which colour it is. A
flash of light inside one shot (lightning, a camera) is not a transition: the colours before and after must differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.media.types import F64
from evaluator.suites.cutcraft.labels import Optical
from evaluator.suites.cutcraft.looks import Looks

EVEN = 0.4
"""Contrast of the evenest frame, relative to the less contrasting side; a dissolve cannot fall below about 0.7."""

WHITE_LUMA, BLACK_SHARE = 170.0, 0.5
"""An even frame is white from this luminance on, and black below this share of the darker side's luminance."""

SIDE = 1.0  # seconds on each side that may show how much contrast the shots have
SHOWN = 0.85  # share of a side's contrast from which on it counts as shown in full
MIN_CHANGE = 0.3  # see Looks.change
COMPARED = 0.25  # seconds before and after that are compared


@dataclass(frozen=True, slots=True)
class Flash:
    """Frames between which the colour is seen, and which colour."""

    first: int
    last: int
    optical: Optical
    evenness: float  # 1 = a single colour at its strongest


def flashes(looks: Looks) -> list[Flash]:
    """All flashes in order of time."""
    ratio = _evenness_ratio(looks)
    found: list[Flash] = []
    even = np.concatenate([[False], ratio < EVEN, [False]])
    edges = np.flatnonzero(even[1:] != even[:-1]).reshape(-1, 2)
    for first, end in edges.tolist():
        flash = _flash(looks, ratio, first, end - 1)
        if flash is not None and (not found or flash.first > found[-1].last):
            found.append(flash)
    return found


def _evenness_ratio(looks: Looks) -> F64:
    """Contrast of each frame over that of the less contrasting side [N]; 1 where there is none to compare with."""
    reach, contrast = looks.frames(SIDE), looks.contrast
    past = np.array([contrast[max(0, t - reach) : t + 1].max() for t in range(len(contrast))])
    future = np.array([contrast[t : t + reach + 1].max() for t in range(len(contrast))])
    side = np.minimum(past, future)
    return np.asarray(np.divide(contrast, side, out=np.ones_like(side), where=side > 1.0))


def _flash(looks: Looks, ratio: F64, first: int, last: int) -> Flash | None:
    """The flash around the even frames [first, last], or None if they are not one."""
    peak = first + int(ratio[first : last + 1].argmin())
    begin, end = _extent(looks, first, last)
    colour = _colour(looks, peak, begin, end)
    if colour is None or looks.change(begin, end, COMPARED) < MIN_CHANGE:
        return None
    return Flash(begin, end, colour, 1.0 - float(ratio[peak]))


def _extent(looks: Looks, first: int, last: int) -> tuple[int, int]:
    """Grow even frames outwards to where each side shows its contrast."""
    reach, contrast = looks.frames(SIDE), looks.contrast
    past = float(np.max(contrast[max(0, first - reach) : first + 1]))
    future = float(np.max(contrast[last : last + reach + 1]))
    while first > 0 and contrast[first - 1] < SHOWN * past and contrast[first - 1] > contrast[first]:
        first -= 1
    while last < len(contrast) - 1 and contrast[last + 1] < SHOWN * future and contrast[last + 1] > contrast[last]:
        last += 1
    return first, last


def _colour(looks: Looks, peak: int, begin: int, end: int) -> Optical | None:
    sides = [float(np.median(looks.luma[side])) for side in (looks.before(begin, SIDE), looks.after(end, SIDE))]
    if looks.luma[peak] >= max(WHITE_LUMA, *sides):
        return Optical.FLASH_WHITE
    return Optical.FLASH_BLACK if looks.luma[peak] <= BLACK_SHARE * min(sides) else None
