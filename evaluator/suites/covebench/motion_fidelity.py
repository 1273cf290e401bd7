"""MF, motion fidelity (CoVEBench 5.2): do things in the edit move where and how they move in the source?

100 points are followed over sixteen frames of each clip; the tracks of one clip are matched with those of the other,
and MF is 1 minus the mean cost of the matched pairs. Nothing is clipped: 1 is the same motion in the same places, a
reversed motion comes near 0, and -0.5 is the least while tracks stay inside the picture.

What the definition does at its edges, kept in `paper` and `compat` and told in the details:

* A track that rests has no direction, so it costs half a point whatever it is matched with. Two identical clips in
  which nothing moves have MF 0.5, and so have clips of which one rests: MF rewards motion, not sameness.
  `strict` lets two resting tracks agree (cost 0); it has no published numbers.
* Both clips are squashed to a square, so directions are those of the squashed picture.
* Frames are sampled at equal fractions of each clip's own length: speed counts for nothing, direction for everything.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from evaluator.experts.features import PointTracks
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.schema import ExpertNeed, Sampling
from evaluator.suites.covebench.tracks_matching import match, summary

FRAMES = Sampling("equal_indices", (16,))


def compute(output: PointTracks, source: PointTracks, rest_agrees: bool = False) -> Outcome:
    """1 - mean matched cost; details tell what the cost is made of, and how many tracks rest or are lost."""
    before, after = summary(source), summary(output)
    matched = match(before, after, source.side, rest_agrees)
    resting = before.resting, after.resting
    details = {
        "position_cost": float(matched.position_cost.mean()),
        "direction_cost": float(matched.direction_cost.mean()),
        "resting": {"source": float(resting[0].mean()), "output": float(resting[1].mean())},
        "no_motion": bool(resting[0].all() or resting[1].all()),
        "visible": {"source": float(source.visible.mean()), "output": float(output.visible.mean())},
        "kept_place": float((matched.partner == np.arange(len(matched.partner))).mean()),
        "output_index": output.index.tolist(),
        "source_index": source.index.tolist(),
    }
    return Outcome(1.0 - float(matched.cost.mean()), details=details)


METRIC = Metric(
    id="mf",
    version=1,
    title="MF",
    summary="Agreement of the motion of 100 tracked points with the source, by best one-to-one matching.",
    direction=Direction.HIGHER,
    range=(None, 1.0),
    unit="",
    paper="CoVEBench 5.2",
    needs={
        "output": ExpertNeed("point_tracks", ("video",), FRAMES),
        "source": ExpertNeed("point_tracks", ("source",), FRAMES),
    },
    compute=compute,
)

STRICT = replace(METRIC, compute=partial(compute, rest_agrees=True))
