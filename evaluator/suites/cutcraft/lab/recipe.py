"""What a lab clip is made of and what is therefore true about it. Frozen data; draws nothing, opens nothing."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.suites.cutcraft.labels import Optical, Relation

RATE = 24  # frames per second
WIDTH, HEIGHT = 320, 180
SOUND_RATE = 48_000
SECONDS = 7.2
CUT = 3.6
"""Seconds at which the picture changes: the first frame of the second shot, or the middle of the effect."""

KINDS: dict[str, Optical] = {
    "hard cut": Optical.HARD_CUT,
    "dissolve": Optical.DISSOLVE,
    "wipe": Optical.WIPE,
    "flash to white": Optical.FLASH_WHITE,
    "flash to black": Optical.FLASH_BLACK,
    "fade": Optical.FLASH_BLACK,  # CutCraft has no class for a slow fade through black but this one
}
"""How the picture may change, and the class of CutCraft's five that it belongs to."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """One clip. Equal recipes make equal pictures and equal sound."""

    name: str
    split: str  # "development" or "held-out"
    kind: str  # a key of KINDS
    effect_seconds: float  # 0 for a hard cut
    shots: tuple[str, str]
    speeds: tuple[float, float]  # pixels per frame of a virtual camera over each shot
    relation: Relation
    offset: float  # seconds between the change of sound and that of pictures, not negative
    overlap: bool  # both sounds play during the offset (a mix), or one replaces the other
    crossfade: float  # seconds over which one sound gives way to the other
    sounds: tuple[str, str]
    bed: str  # a quiet sound under everything, "" for none
    floor: float  # RMS of white noise under everything, full scale 1
    seed: int

    @property
    def optical(self) -> Optical:
        """The true class."""
        return KINDS[self.kind]

    @property
    def cut(self) -> float:
        """Seconds at which the second shot takes over: of a hard cut, when its first frame is shown."""
        return round(CUT * RATE) / RATE if self.effect_seconds == 0.0 else CUT

    @property
    def effect(self) -> tuple[float, float]:
        """Seconds at which the pictures begin and end to change."""
        return CUT - self.effect_seconds / 2, CUT + self.effect_seconds / 2
