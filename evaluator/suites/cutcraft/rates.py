"""The frame rate that a file names, from the mean rate of its frames: what the reference counts in frames by.

The reference cuts fractions of frames off, int(0.25 fps) and the like, so a mean rate of 23.999999999999996 would be
a frame short in one clip of ten. Knows no file.
"""

from __future__ import annotations

from evaluator.media.sampling import RATE_TOLERANCE


def named(rate: float) -> float:
    """The nearest whole rate, or 1000/1001 of one, within what rounded time stamps blur; else the rate as it is.

    >>> named(23.999999999999996), round(named(29.9701), 4), named(12.4)
    (24.0, 29.97, 12.4)
    """
    near = min((float(round(rate)), round(rate * 1.001) / 1.001), key=lambda one: abs(one - rate))
    return near if abs(near - rate) <= RATE_TOLERANCE * rate else rate
