"""What a reader sees of a history: the runs, the means over time, and what moved; rows for a dashboard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from evaluator.metrics.base import Direction
from evaluator.report.grid import Grid, aligned, escaped, markdown, number
from evaluator.report.history import Past, Point, Series
from evaluator.report.table import ARROWS

LAST = 8
"""Runs that fit beside each other."""
MARK = "*"


def text(runs: Sequence[Past], series: Sequence[Series], last: int = LAST) -> str:
    """Aligned tables for a terminal, the newest `last` runs."""
    return _document(runs, series, last, aligned, str)


def markdown_text(runs: Sequence[Past], series: Sequence[Series], last: int = LAST) -> str:
    """The same as a Markdown document."""
    return _document(runs, series, last, markdown, lambda line: f"- {escaped(line)}") + "\n"


def rows(runs: Sequence[Past], series: Sequence[Series]) -> list[dict[str, Any]]:
    """One row per point, figures in full, oldest first within a series."""
    headers = {past.name: past for past in runs}
    return [_row(one, point, headers[point.run]) for one in series for point in one.points]


def _document(
    runs: Sequence[Past],
    series: Sequence[Series],
    last: int,
    table: Callable[[Grid], str],
    plain: Callable[[str], str],
) -> str:
    shown = runs[-last:]
    first = len(runs) - len(shown) + 1
    moves = [plain(line) for one in series for line in _moves(one, runs, first)]
    legend = f"{MARK} moved since the run before; RSD over all runs; ↑ higher is better, ↓ lower is better"
    parts = [table(_run_grid(shown, first)), table(_means(shown, series, first)), plain(legend)]
    return "\n\n".join([*parts, "\n".join(moves or [plain("no number moved")])])


def _run_grid(runs: Sequence[Past], first: int) -> Grid:
    cells = [
        (
            str(index),
            past.started,
            past.name,
            str(past.header["status"]) + ("" if past.rows else ", no summary"),
            f"{past.header['evaluator']} {(past.header['revision'] or '')[:8]}".strip(),
            past.header["manifest"]["sha256"][:8],
            past.header["lock_sha256"][:8],
        )
        for index, past in enumerate(runs, first)
    ]
    return Grid(("run", "started", "folder", "status", "evaluator", "manifest", "lock"), cells, left=7)


def _means(runs: Sequence[Past], series: Sequence[Series], first: int) -> Grid:
    head = ("suite", "system", "metric", *(str(index) for index, _ in enumerate(runs, first)), "RSD %")
    cells = [
        (
            one.suite,
            one.system,
            f"{ARROWS[Direction(one.direction)]} {one.metric}"
            + ("" if one.profile == "paper" else f" ({one.profile})"),
            *(_cell([point for point in one.points if point.run == past.name]) for past in runs),
            number(one.relative_sd, 2),
        )
        for one in series
    ]
    return Grid(head, cells, left=3)


def _cell(points: Sequence[Point]) -> str:
    """Means of one run; several if several models served it."""
    return " / ".join(number(point.mean) + (MARK if point.moved else " ") for point in points) or "- "


def _moves(one: Series, runs: Sequence[Past], first: int) -> list[str]:
    """A line per move among the runs that are shown."""
    place = {past.name: index for index, past in enumerate(runs, 1)}
    return [
        f"{one.metric} of {one.system or '(no name)'}: {number(point.mean, 4)} ({number(point.delta, 4, signed=True)}) "
        f"in run {place[point.run]}: {_causes(point)}"
        for point in one.points
        if point.moved and place[point.run] >= first
    ]


def _causes(point: Point) -> str:
    told = ", ".join(f"{what} {before} to {after}" for what, before, after in point.changed)
    return told or "nothing that run.json records changed; look at the clips (evaluator compare)"


def _row(one: Series, point: Point, past: Past) -> dict[str, Any]:
    low, high = point.interval or (None, None)
    return {
        "started": point.started,
        "run": point.run,
        "status": past.header["status"],
        "suite": one.suite,
        "system": one.system,
        "metric": one.metric,
        "profile": one.profile,
        "direction": one.direction,
        "n": point.n,
        "mean": point.mean,
        "low": low,
        "high": high,
        "delta": point.delta,
        "moved": int(point.moved),
        "changed": "; ".join(f"{what}: {before} to {after}" for what, before, after in point.changed),
        "models": "; ".join(f"{name} {digest[:12]}" for name, digest in point.models),
        "evaluator": past.header["evaluator"],
        "revision": past.header["revision"],
        "manifest": past.header["manifest"]["sha256"],
        "lock": past.header["lock_sha256"],
    }
