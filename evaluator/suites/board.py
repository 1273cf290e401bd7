"""A table that a protocol prints: named columns, one row per system, category or stratum, and notes below.

What a paper's tables show goes here (means over cases, gated columns, win rates); a single metric of a single case is a
record, not a board. Knows no suite and writes no file.
"""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | float | int | None
"""Text, a number, or None where there is nothing to tell (never a zero in its place)."""


@dataclass(frozen=True, slots=True)
class Board:
    """One table of one suite. `units` and `arrows` stand beside the columns; empty for plain text."""

    id: str  # unique within the suite
    title: str  # with the paper section it mirrors
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]  # as long as `columns`
    notes: tuple[str, ...] = ()  # thresholds, what was left out and why, what is a guess
    decimals: int = 3  # when it is printed; the numbers themselves stay whole

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"board {self.id}: rows and columns differ in length")
