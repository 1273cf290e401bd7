"""The scoreboard: every figure with its target. A figure that was not measured says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

SCHEMA = 1
NEEDS_GPU = "needs a GPU: --device gpu"
NEEDS_JUDGE = "needs a judge: --judge-url URL"
NOT_MEASURED = "not measured in this run"


class Better(StrEnum):
    """Which side of the target is a pass."""

    LOWER = "lower"
    HIGHER = "higher"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Target:
    """One line of the scoreboard before it is measured. `slack` is what noise may do to the figure, absolute."""

    id: str
    what: str
    better: Better
    limit: float
    unit: str = ""
    slack: float = 0.0
    portable: bool = True  # a ratio of two things measured together, which another machine should reproduce
    absent: str = NOT_MEASURED  # what is said where there is no figure


TARGETS = (
    Target("S1", "media stage / raw decode of the same files", Better.LOWER, 1.6, slack=0.1),
    Target("S2", "decodes per file", Better.EQUAL, 1.0),
    Target("S3", "(raw decode + networks on ready tensors) / whole core", Better.HIGHER, 0.85, slack=0.05),
    Target("S4", "usual flow / ours, without the interpolation expert", Better.HIGHER, 20.0, slack=0.5),
    Target("S4 all", "usual flow / ours, every metric", Better.HIGHER, 20.0, slack=0.5),
    Target("S5", "CPU s / (wall x cores)", Better.HIGHER, 0.85, portable=False),
    Target("S6", "start to first score", Better.LOWER, 1.0, "CPU s", portable=False),
    Target("S6 torch", "torch modules imported", Better.EQUAL, 0.0),
    Target("S7", "a second metric on an existing feature / whole core", Better.LOWER, 0.01, slack=0.01),
    Target("S8", "resume of a finished run, per case", Better.LOWER, 1.0, "CPU ms", portable=False),
    Target("S9", "peak memory, 60 s at 1080p", Better.LOWER, 1.0, "GB", slack=0.1),
    Target("S10", "byte-equal: twice, and one shard against three", Better.EQUAL, 1.0),
    Target("G1", "DALI decode frames/s / the chip's decoder limit", Better.HIGHER, 0.85, absent=NEEDS_GPU),
    Target("G4", "clips/s x max(decode s, sum of expert s)", Better.HIGHER, 0.85, absent=NEEDS_GPU),
    Target("G6", "judge tokens/s / the bare server's", Better.HIGHER, 0.9, absent=NEEDS_JUDGE),
    Target("G9", "GPU frames against CPU frames, PSNR", Better.HIGHER, 40.0, "dB", absent=NEEDS_GPU),
)


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured line. `value` is None when it was not measured, and `note` says why."""

    value: float | None
    note: str = ""


@dataclass(slots=True)
class Board:
    """Figures by the id of their target, and everything else that was found, as plain trees for JSON."""

    figures: dict[str, Figure] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def put(self, name: str, value: float | None, note: str = "") -> None:
        """Write a figure down."""
        self.figures[name] = Figure(value, note)

    def tree(self) -> dict[str, Any]:
        """The board as JSON: schema, facts, and one object per target."""
        rows = [row(target, self.figures.get(target.id, Figure(None, target.absent))) for target in TARGETS]
        return {"schema": SCHEMA, **self.facts, "figures": rows}


def passed(target: Target, value: float) -> bool:
    """Whether a figure meets its target."""
    if target.better is Better.LOWER:
        return value <= target.limit
    return value >= target.limit if target.better is Better.HIGHER else value == target.limit


def row(target: Target, figure: Figure) -> Mapping[str, Any]:
    """One line as a plain tree."""
    return {
        "id": target.id,
        "what": target.what,
        "better": str(target.better),
        "target": target.limit,
        "unit": target.unit,
        "value": figure.value,
        "passed": None if figure.value is None else passed(target, figure.value),
        "note": figure.note,
    }
