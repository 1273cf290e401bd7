"""Random choices that a task makes the same way for ever, for the outputs of every system.

The reference draws from generators that are seeded once per process or not at all, so its values depend on which clips
ran before (CoVEBench spec, section 10, point 11). Here a seed follows from the task and from what it is for.
"""

from __future__ import annotations

from evaluator.media.fragments import draw
from evaluator.schema import Case

SEEDS = 2**31
"""What servers and samplers take as a seed: 0 .. 2^31 - 1."""


def seed_of(case: Case, *purpose: int | str) -> int:
    """The seed of one purpose in one task."""
    return draw(SEEDS, int(case.data["task"]), *purpose)
