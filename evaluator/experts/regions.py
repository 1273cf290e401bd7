"""What the experts about regions share: the phrases they are asked for, and the frames that they look at.

CoVEBench 5.3. A request for boxes, masks or similarities names its phrases in the option `phrases`, a JSON list.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from evaluator.schema import ExpertNeed, Filter, Fit, Sampling, View

RATE = 2
"""Frames per second."""
MOST_FRAMES = 32
PROBED = 3
"""First frames on which an object is looked for."""

MASK_FRAMES = Sampling("fps_head", (RATE, MOST_FRAMES))
PROBED_FRAMES = Sampling("fps_head", (RATE, PROBED))
STRIDE_FRAMES = Sampling("stride_head", (RATE, MOST_FRAMES))
"""The reference's own frames for pictures: a whole number of frames apart, drifting away from those of the masks."""

LONG_SIDE = 1920
"""Pixels. Clips up to 1080p are compared at their own size; 32 frames of more would not fit beside everything else."""

Option = tuple[str, str | int | float | bool]


def picture_view(sampling: Sampling) -> View:
    """Pictures at the size at which regions are compared."""
    return View(sampling, Fit.LONG_SIDE_MAX, height=LONG_SIDE, filter=Filter.AREA)


def phrases_option(phrases: Sequence[str]) -> Option:
    """The option that names the phrases."""
    return "phrases", orjson.dumps(list(phrases)).decode()


def phrases_of(want: ExpertNeed) -> tuple[str, ...]:
    """The phrases of a request. Raises ValueError for a request without any: that is a mistake of a metric."""
    options: Mapping[str, Any] = dict(want.options)
    phrases = orjson.loads(options.get("phrases", "[]"))
    if not phrases:
        raise ValueError(f"a request for {want.capability} must name phrases")
    return tuple(map(str, phrases))


def choice(want: ExpertNeed, name: str, allowed: Sequence[str]) -> str:
    """The value of an option, the first of `allowed` by default. Raises ValueError for another."""
    options: Mapping[str, Any] = dict(want.options)
    value = str(options.get(name, allowed[0]))
    if value not in allowed:
        raise ValueError(f"option {name}: expected one of {list(allowed)}, found {value!r}")
    return value


def only(want: ExpertNeed, *names: str) -> tuple[Option, ...]:
    """The options of a request that another expert also takes."""
    return tuple(option for option in want.options if option[0] in names)
