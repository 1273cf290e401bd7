"""Which track of a source goes with which track of an edit, and at what cost (CoVEBench 5.2). Numbers only.

A track is summed up by its mean position p and its mean velocity v, over the frames on which it is visible:

    C = alpha |p - q| / d_max + (1 - alpha) (1 - v.w / (|v| |w| + 1e-6))        d_max = sqrt(2) side, alpha = 0.5

The first term is 0..1 inside the picture, the second 0 (same direction) to 2 (opposite); the second is 1 where one of
the tracks rests, also where both do. Tracks are matched one to one at the smallest total cost. No time enters: tracks
of clips with different lengths can be matched, and a velocity is per sampled frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from evaluator.experts.features import PointTracks
from evaluator.media.types import F64, I64, Bool

ALPHA = 0.5
EPS = 1e-6
RESTING = 1e-3
"""Pixels per sampled frame, far below what a tracker resolves: a slower track has no direction."""


@dataclass(frozen=True, slots=True)
class Summary:
    """Tracks as the cost sees them."""

    position: F64  # [P, 2] mean (x, y) in pixels
    velocity: F64  # [P, 2] mean (x, y) in pixels per sampled frame

    @property
    def resting(self) -> Bool:
        """[P] True for tracks without a direction."""
        slow: Bool = np.linalg.norm(self.velocity, axis=1) < RESTING
        return slow


@dataclass(frozen=True, slots=True)
class Matching:
    """The assignment at the smallest total cost. Row i of the source goes with column `partner[i]`."""

    partner: I64  # [P]
    cost: F64  # [P] of the matched pairs
    position_cost: F64  # [P] the first term, before its weight
    direction_cost: F64  # [P] the second term, before its weight


def summary(tracks: PointTracks) -> Summary:
    """Mean position over visible frames and mean step from visible frames (all of them if there are none)."""
    xy = tracks.xy.astype(np.float64)
    return Summary(_mean(xy, tracks.visible), _mean(np.diff(xy, axis=1), tracks.visible[:, :-1]))


def _mean(values: F64, counted: Bool) -> F64:
    """[P, 2] mean of values [P, T, 2] where counted [P, T]; over all T where nothing of a row is."""
    weight = np.where(counted.any(axis=1, keepdims=True), counted, True).astype(np.float64)[..., None]
    mean: F64 = (values * weight).sum(axis=1) / weight.sum(axis=1)
    return mean


def position_costs(a: Summary, b: Summary, side: int) -> F64:
    """[P, Q] distance over the diagonal of the square."""
    distance = np.linalg.norm(a.position[:, None] - b.position[None], axis=2)
    return np.asarray(distance / (np.sqrt(2.0) * side), np.float64)


def direction_costs(a: Summary, b: Summary, rest_agrees: bool = False) -> F64:
    """[P, Q] 1 - cosine, 0..2; 1 where a velocity is zero.

    `rest_agrees` is a correction without published numbers: two resting tracks agree and cost 0.
    """
    sizes = np.linalg.norm(a.velocity, axis=1)[:, None] * np.linalg.norm(b.velocity, axis=1)[None]
    cost: F64 = 1.0 - (a.velocity @ b.velocity.T) / (sizes + EPS)
    return np.where(a.resting[:, None] & b.resting[None], 0.0, cost) if rest_agrees else cost


def match(source: Summary, edit: Summary, side: int, rest_agrees: bool = False) -> Matching:
    """The tracks of both clips, as many of one as of the other, paired at the smallest total cost."""
    position, direction = position_costs(source, edit, side), direction_costs(source, edit, rest_agrees)
    cost = ALPHA * position + (1.0 - ALPHA) * direction
    rows, partner = linear_sum_assignment(cost)  # rows come sorted
    return Matching(partner, cost[rows, partner], position[rows, partner], direction[rows, partner])
