"""The tables of the report for other programs and other documents: CSV with every figure, Markdown to paste.

Knows rows of a summary and views of suites; writes no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evaluator.report.aggregate import Row
from evaluator.report.grid import Grid, escaped, markdown, number
from evaluator.report.page.suites import SuiteView


def csv_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One line per row of the summary, with full numbers."""
    return [_csv_row(row) for row in rows]


def _csv_row(row: Row) -> dict[str, Any]:
    low, high = row.interval or (None, None)
    return {
        "suite": row.suite,
        "system": row.system,
        "metric": row.metric,
        "profile": row.profile,
        "evidence": row.evidence,
        "tiers": " ".join(sorted({str(model.tier) for model in row.models})),
        "stands_in_for": "; ".join(model.stands_in_for for model in row.models if model.stands_in_for),
        "models": " ".join(f"{model.id}@{model.sha256[:12]}" for model in row.models),
        "n": row.n,
        "clusters": row.clusters,
        "mean": row.mean,
        "interval_low": low,
        "interval_high": high,
        "median": row.median,
        "min": row.low,
        "max": row.high,
        "skipped": " ".join(f"{code}:{count}" for code, count in row.skipped.items()),
        "failed": " ".join(f"{code}:{count}" for code, count in row.failed.items()),
    }


def markdown_report(title: str, views: Sequence[SuiteView]) -> str:
    """A document with the tables of every suite."""
    return "\n".join([f"# {escaped(title)}", "", *(line for one in views for line in _suite(one))])


def _suite(one: SuiteView) -> Iterator[str]:
    yield f"## {escaped(one.title)}"
    yield ""
    yield markdown(_systems(one))
    yield ""
    yield "Means over cases with 95 % intervals. ↑ higher is better, ↓ lower is better."
    yield ""
    for badge in dict.fromkeys(badge for row in one.table for badge in row.badges if badge.kind != "judged"):
        metrics = ", ".join(row.card["id"] for row in one.table if badge in row.badges)
        yield f"* {escaped(metrics)}: {escaped(badge.text)}"
    yield from (f"* {escaped(line)}" for line in one.absences)
    yield ""
    for board in one.boards:
        yield from _board(board)


def _systems(one: SuiteView) -> Grid:
    """Metrics down, systems across."""
    lines = [
        [
            f"{row.arrow} {row.card['id']}".strip(),
            *(" ".join(filter(None, (cell.mean, cell.interval))) for cell in row.cells),
        ]
        for row in one.table
    ]
    return Grid(["metric", *(system or "(no name)" for system in one.systems)], lines)


def _board(board: Mapping[str, Any]) -> Iterator[str]:
    """A table that a protocol prints."""
    rows = [[cell_text(cell, board.get("decimals", 3)) for cell in row] for row in board["rows"]]
    yield f"### {escaped(board['title'])}"
    yield ""
    yield markdown(Grid(board["columns"], rows))
    yield ""
    yield from (f"* {escaped(note)}" for note in board.get("notes", ()))
    yield ""


def cell_text(cell: str | float | int | None, decimals: int = 3) -> str:
    """A cell of a board as text; a dash where there is nothing to tell."""
    return number(cell, decimals) if isinstance(cell, float) or cell is None else str(cell)
