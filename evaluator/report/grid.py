"""One table of texts, three ways: aligned columns, Markdown, CSV. Knows cells only."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells as they are shown. The first `left` columns are text, the others are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1


def aligned(grid: Grid) -> str:
    """Columns of equal width under a rule; text to the left, numbers to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(grid.head, *grid.rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if index < grid.left else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return "  ".join(padded).rstrip()

    return "\n".join([line(grid.head), "─" * (sum(widths) + 2 * len(widths) - 2), *map(line, grid.rows)])


def markdown(grid: Grid) -> str:
    """A pipe table; what Markdown would read as markup in a cell is escaped."""
    rule = [":--" if index < grid.left else "--:" for index in range(len(grid.head))]
    lines = [map(escaped, grid.head), rule, *(map(escaped, row) for row in grid.rows)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    marked = "".join(f"\\{letter}" if letter in "\\`*_[]|#~$" else letter for letter in text)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Comma-separated rows of equal keys under a line with the keys; None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, fieldnames=list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def number(value: float | None, digits: int = 3, signed: bool = False) -> str:
    """A number with a fixed count of decimals, or a dash."""
    return "-" if value is None else f"{value:{'+' if signed else ''}.{digits}f}"


def p_value(p: float | None) -> str:
    """A p value with three decimals, never shown as 0."""
    return "-" if p is None else ("<0.001" if p < 0.001 else f"{p:.3f}")


def span(interval: tuple[float, float] | None, digits: int = 3, signed: bool = False) -> str:
    """An interval, or a dash."""
    return (
        "-" if interval is None else f"[{number(interval[0], digits, signed)}, {number(interval[1], digits, signed)}]"
    )
