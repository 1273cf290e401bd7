"""What a clip's frame rate decides before anything is planned: how often profile `compat` looks at its pictures.

The reference embeds every max(int(0.25 x rate), 4)-th frame to find cuts by meaning (spec 4.1, step 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluator.schema import Case
from evaluator.suites.base import Facts
from evaluator.suites.cutcraft.data import STORED_FRAMES
from evaluator.suites.cutcraft.rates import named


def prepare(cases: Sequence[Case], whole: Sequence[Case], facts: Facts) -> list[Case]:
    """The cases with `data.embed_every` where it is not the usual one."""
    return [_prepared(case, facts) for case in cases]


def frames_apart(rate: float) -> int:
    """Frames between two embedded pictures."""
    return max(int(0.25 * named(rate)), 4)


def _prepared(case: Case, facts: Facts) -> Case:
    clip = facts(case.video)
    every = frames_apart(clip.video.rate) if clip is not None and clip.video is not None else STORED_FRAMES
    if every == case.data.get("embed_every", STORED_FRAMES):
        return case
    return replace(case, data={**case.data, "embed_every": every})
