"""The signals of the AVE-Compass golden values (sections 12.5 and 12.7), rebuilt from their formulas."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tests.metrics.build import seconds


def noise(count: int, state: int = 12_345) -> npt.NDArray[np.float64]:
    """The linear congruential noise u in [-1, 1)."""
    values = np.empty(count)
    for k in range(count):
        state = (1_103_515_245 * state + 12_345) % 2**31
        values[k] = 2 * state / 2**31 - 1
    return values


def melody(duration: float = 5.0) -> npt.NDArray[np.float64]:
    """The synthetic track m(t)."""
    t = seconds(duration)
    pulsed = 0.2 * np.sin(2 * np.pi * 220 * t) * (np.sin(2 * np.pi * 1.5 * t) > 0)
    return pulsed + 0.15 * np.sin(2 * np.pi * (500 + 300 * np.sin(2 * np.pi * 0.4 * t)) * t)
