"""The protocols' own tables: made by each suite from the records of a run, kept in summary.json, printed for people.

Knows suites only by `Suite.boards`; what a table means is the suite's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.schema import Case, Score
from evaluator.suites import suites
from evaluator.suites.board import Board, Cell

Sections = Mapping[str, Sequence[Board]]
"""Suite -> its tables."""


def sections(cases: Sequence[Case], scores: Sequence[Score]) -> dict[str, tuple[Board, ...]]:
    """Tables of every suite that has records and prints any."""
    found: dict[str, tuple[Board, ...]] = {}
    for name in dict.fromkeys(score.suite for score in scores):
        own = [score for score in scores if score.suite == name]
        scored = {score.case for score in own}
        boards = suites()[name].boards([case for case in cases if case.id in scored], own)
        if boards:
            found[name] = tuple(boards)
    return found


def printed(board: Board) -> str:
    """A table of plain text: title, aligned columns, notes."""
    cells = [list(board.columns), *([_text(cell, board.decimals) for cell in row] for row in board.rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(board.columns))]
    numeric = [all(not isinstance(row[column], str) for row in board.rows) for column in range(len(board.columns))]
    lines = [_line(row, widths, numeric) for row in cells]
    rule = "─" * max(map(len, lines), default=0)
    return "\n".join([board.title, lines[0], rule, *lines[1:], *(f"  {note}" for note in board.notes)])


def _text(cell: Cell, decimals: int) -> str:
    if cell is None:
        return "-"
    return f"{cell:.{decimals}f}" if isinstance(cell, float) else str(cell)


def _line(row: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    cells = (
        text.rjust(width) if right else text.ljust(width)
        for text, width, right in zip(row, widths, numeric, strict=True)
    )
    return "  ".join(cells).rstrip()
