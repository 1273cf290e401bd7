"""Motion of a clip on the clock of its first frame, computed once for all dimensions that use it."""

from __future__ import annotations

from dataclasses import replace

from evaluator.media.types import Frames
from evaluator.suites.cutcraft.memo import remembered
from evaluator.suites.cutcraft.motion import Motion, motion

STANDS_IN = "RAFT-small"
"""The published flow. Farneback's stands in for it without a model, so no model record can say so; details do."""


@remembered(4)
def moved(frames: Frames, nominal: bool) -> Motion:
    """Motion with times from the first frame on. Raises NotApplicable for fewer than two frames."""
    found = motion(frames, nominal)
    return found if nominal else replace(found, time=found.time - frames.time[0])
