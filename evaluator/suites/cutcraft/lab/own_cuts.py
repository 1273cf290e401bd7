"""Cuts that an editor made, not the lab: those of the demo clip with several shots, counted by eye."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evaluator.media.probe import probe
from evaluator.runtime.session import SessionSource
from evaluator.suites.cutcraft.lab.measure import Change, look
from evaluator.suites.cutcraft.labels import Optical

FILE = "bikes.mp4"
RATE = 25.0
FIRST_FRAMES = (30, 76, 137, 187, 242)
"""First frames of its second to sixth shot; all five joins are hard cuts."""
TOLERANCE = 1.5 / RATE
"""Seconds by which a cut may be off."""


@dataclass(frozen=True, slots=True)
class OwnCuts:
    """What a profile made of them."""

    profile: str
    found: int  # at the right time and as hard cuts
    other_class: int  # at the right time, but as something else
    false: int  # transitions elsewhere

    @property
    def text(self) -> str:
        """A line for people."""
        return f"{self.found} of {len(FIRST_FRAMES)} found, {self.other_class} as another class, {self.false} false"


def own_cuts(folder: Path, sessions: SessionSource) -> list[OwnCuts]:
    """Both profiles on the clip in `folder`."""
    path = folder / FILE
    found, _ = look(path, probe(path), sessions)
    return [count(profile, changes) for profile, changes in sorted(found.items())]


def count(profile: str, changes: list[Change]) -> OwnCuts:
    """Compare with FIRST_FRAMES."""
    true = [frame / RATE for frame in FIRST_FRAMES]
    right = [one for one in changes if any(abs(one.cut - cut) <= TOLERANCE for cut in true)]
    hard = sum(one.optical == Optical.HARD_CUT for one in right)
    return OwnCuts(profile, hard, len(right) - hard, len(changes) - len(right))
