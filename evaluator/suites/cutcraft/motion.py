"""How a clip moves: dense flow eight times a second, its size, direction and energy, and the dimensions that use it.

Farneback flow stands in for the reference's RAFT-small; figures are in pixels of a 320-wide picture. Unlike in the
reference every pair carries its own time (D-05: at 30 frames a second nominal times drift by a quarter). Directions are
means on the circle. Serves B2 (energy against music), F1 (peaks), D1 (match on action, whip pan).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F64, U8, Frames
from evaluator.metrics.arithmetic import clip01
from evaluator.schema import Filter, Fit, FramesNeed, Sampling, View

NOMINAL_RATE = 8.0
VIEW = View(Sampling("stride", (8, 150)), Fit.LONG_SIDE_MAX, 320, filter=Filter.FFMPEG_AREA, colour="gray")
NEEDS = {"frames": FramesNeed(VIEW)}


@dataclass(frozen=True, slots=True)
class Motion:
    """Flow of consecutive sampled frames."""

    magnitude: F64  # [N] mean length in pixels
    direction: F64  # [N] radians, mean on the circle, weighted by length
    energy: F64  # [N] mean squared length
    time: F64  # [N] seconds of the pair's first frame


def motion(frames: Frames, nominal: bool = False) -> Motion:
    """Motion of the view VIEW. `nominal` dates pair k at k / 8 s as the reference does (D-05).

    Raises NotApplicable for fewer than two frames.
    """
    pictures = frames.data[..., 0]
    if len(pictures) < 2:
        raise NotApplicable("not_applicable", f"Motion needs two frames; the clip has {len(pictures)}.")
    flows = [_flow(a, b) for a, b in pairwise(pictures)]
    lengths = [np.linalg.norm(flow, axis=2) for flow in flows]
    mean = np.array([flow.mean(axis=(0, 1)) for flow in flows])
    return Motion(
        magnitude=np.array([length.mean() for length in lengths]),
        direction=np.asarray(np.arctan2(mean[:, 1], mean[:, 0])),
        energy=np.array([np.square(length).mean() for length in lengths]),
        time=np.arange(len(flows)) / NOMINAL_RATE if nominal else frames.time[:-1],
    )


def _flow(a: U8, b: U8) -> F64:
    found = cv2.calcOpticalFlowFarneback(a, b, None, 0.5, 4, 15, 3, 5, 1.1, 0)  # type: ignore[call-overload]
    return np.asarray(found, np.float64)


def energy_peaks(moved: Motion) -> F64:
    """Seconds of all pairs whose energy exceeds mean plus standard deviation (F1 of spec 7)."""
    return np.asarray(moved.time[moved.energy > moved.energy.mean() + moved.energy.std()])


def action_match(moved: Motion, cut: float, mixed_units: bool = False, cut_is_old: bool = False) -> float | None:
    """D1, match on action: does the motion before a cut go on after it? 0..1, None without two pairs on each side.

    Cosine of the mean flow vectors of the two pairs on each side; the pair across the cut, whose flow leads from one
    shot to the other, is of neither. `mixed_units` is the reference's vector of two lengths and two directions in
    degrees (D-16), the directions on the circle here too: its means of angles are of no use for a motion to the left.
    """
    k = across(moved, cut, cut_is_old)
    if k < 2 or k + 3 > len(moved.time):
        return None
    if mixed_units:
        a, b = (np.concatenate([moved.magnitude[s], np.degrees(moved.direction[s])]) for s in _sides(k))
    else:
        a, b = (_mean_vector(moved, side) for side in _sides(k))
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return clip01(float(a @ b) / lengths) if lengths > 0.0 else None


def across(moved: Motion, cut: float, cut_is_old: bool = False) -> int:
    """The pair of which one frame is before a cut and one after it: the reference's int(8 x cut), by true times.

    A frame at the cut itself is of the new shot, or with `cut_is_old` of the old one. -1 for a cut before all pairs.
    """
    return int(np.searchsorted(moved.time, cut, side="right" if cut_is_old else "left")) - 1


def _sides(k: int) -> tuple[slice, slice]:
    return slice(k - 2, k), slice(k + 1, k + 3)


def _mean_vector(moved: Motion, side: slice) -> F64:
    size, angle = moved.magnitude[side], moved.direction[side]
    return np.array([(size * np.cos(angle)).mean(), (size * np.sin(angle)).mean()])


def whip(moved: Motion, cut: float, cut_is_old: bool = False, pairs: int = 3) -> tuple[float, float] | None:
    """D1, whip pan: (mean, largest) magnitude of the pair across a cut and those around it; None if there are none."""
    k = across(moved, cut, cut_is_old)
    near = moved.magnitude[max(0, k - pairs) : k + pairs + 1]
    return (float(near.mean()), float(near.max())) if len(near) else None
