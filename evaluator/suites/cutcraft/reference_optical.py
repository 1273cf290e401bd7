"""The reference code's five optical classes from gray differences (CutCraft spec 4.2), for the profile `compat`.

Its failures over moving shots (spec 15.5, D-17) are kept; `evaluator.suites.cutcraft.transitions` is what we measure
with. Pure numpy on gray pictures.
"""

from __future__ import annotations

import numpy as np

from evaluator.media.types import F64, U8
from evaluator.suites.cutcraft.labels import Optical


def optical_class(gray: U8, first: int, last: int, rate: float) -> Optical:
    """Class of the transition in frames [first, last] of a clip's gray pictures [N, 180, 320]."""
    half, centre = max(int(0.5 * rate), 8), (first + last) // 2
    window = gray[max(0, centre - half) : centre + half + 1].astype(np.float64)
    if len(window) < 5:
        return Optical.HARD_CUT if last - first <= 2 else Optical.DISSOLVE
    return _flash(window) or _gradual_or_hard(window)


def _flash(window: F64) -> Optical | None:
    level = window.mean(axis=(1, 2))
    edge = float(np.concatenate([level[:3], level[-3:]]).mean())
    rise, fall = float(level.max()) - edge, edge - float(level.min())
    white = (level.max() > 200 and rise > 50) or (level.max() > 140 and rise > 80)
    black = (level.min() < 40 and fall > 50) or (level.min() < 60 and fall > 80)
    count = min(3, len(window) // 4)
    sides = float(np.abs(window[:count].mean(axis=0) - window[-count:].mean(axis=0)).mean()) if count else 0.0
    if not (white or black) or sides <= 20:
        return None
    return Optical.FLASH_WHITE if white else Optical.FLASH_BLACK


def concentration(window: F64) -> tuple[float, float]:
    """(share of the two largest differences, largest over median or 0) of neighbouring frames [n, H, W]."""
    steps = np.abs(np.diff(window, axis=0)).mean(axis=(1, 2))
    median = float(np.median(steps))
    peak = float(steps.max()) / median if median > 0.5 else 0.0
    total = float(steps.sum())
    return (float(np.sort(steps)[-2:].sum()) / total if total > 0.0 else 1.0), peak


def cell_progress(window: F64) -> F64:
    """How far each cell of a 4 x 4 grid has come in the middle frame, of cells that change by more than 5 levels."""
    first, middle, last = window[0], window[len(window) // 2], window[-1]
    whole, half = _cells(np.abs(last - first)), _cells(np.abs(middle - first))
    used = whole > 5
    return np.asarray(np.clip(half[used] / (whole[used] + 1e-6), 0.0, 1.0))


def _gradual_or_hard(window: F64) -> Optical:
    if np.abs(np.diff(window, axis=0)).mean(axis=(1, 2)).sum() < 1:
        return Optical.HARD_CUT
    share, peak = concentration(window)
    if share > 0.28 or peak > 8:
        return Optical.HARD_CUT
    progress = cell_progress(window)
    return Optical.WIPE if len(progress) >= 4 and float(progress.std()) > 0.20 else Optical.DISSOLVE


def _cells(picture: F64) -> F64:
    """Means [16] over a 4 x 4 grid."""
    height, width = picture.shape[0] // 4, picture.shape[1] // 4
    return np.asarray(picture[: 4 * height, : 4 * width].reshape(4, height, 4, width).mean(axis=(1, 3)).ravel())
