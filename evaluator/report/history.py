"""How scores moved over a series of runs, and what else changed when they did. Reads run.json and summary.json only.

A number "moved" when it differs from the one before by more than 1e-6 or rests on another number of cases. What is
named beside it changed between the same two runs and may be the cause; run.json does not know whether the clips are
still the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.report.aggregate import SUMMARY, read_summary
from evaluator.report.runs import load_header
from evaluator.report.unlike import changes
from evaluator.runner.header import HEADER
from evaluator.schema import to_tree
from evaluator.stats.bootstrap import Interval
from evaluator.stats.preference import TIE
from evaluator.stats.repeats import relative_sd

WATCHED = (
    "evaluator",
    "revision",
    "lock_sha256",
    "judge",
    "seeds",
    "device",
    "driver",
    "decoder",
    "backends",
    "python",
    "packages",
    "machine",
)
"""Header fields that may move a number; the manifest's digest, a metric's version and its models are looked at too."""


Row = Mapping[str, Any]
"""A row of summary.json."""


@dataclass(frozen=True, slots=True)
class Past:
    """One run: its folder, its header, and the rows of its summary (none if it did not finish)."""

    name: str
    header: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def started(self) -> str:
        """When, in UTC."""
        return str(self.header["started"])


Change = tuple[str, str, str]
"""What, before, after."""


@dataclass(frozen=True, slots=True)
class Point:
    """One metric of one system in one run. `changed`: what else did, since the point before, if this one moved."""

    run: str
    started: str
    n: int
    mean: float | None
    interval: Interval | None
    models: tuple[tuple[str, str], ...]  # id, digest
    delta: float | None
    moved: bool
    changed: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """The points of one metric of one system, oldest first, and how much they vary (percent, None for one point).

    Over runs of the same clips the variation is that of the measurement: MultiRef-Compass wants it below 1 %.
    """

    suite: str
    system: str
    metric: str
    profile: str
    direction: str
    relative_sd: float | None
    points: tuple[Point, ...]


def load_past(folders: Iterable[Path]) -> list[Past]:
    """Runs in the folders and one level below them, oldest first. UsageError if a folder holds none."""
    found = {path.resolve(): path for folder in folders for path in _runs_of(folder)}
    return sorted((_past(path) for path in found.values()), key=lambda past: (past.started, past.name))


def _runs_of(folder: Path) -> list[Path]:
    inside = [folder] if (folder / HEADER).is_file() else sorted(path.parent for path in folder.glob(f"*/{HEADER}"))
    if not inside:
        raise UsageError(f"{folder}: no {HEADER} there or one level below; name folders of runs")
    return inside


def _past(folder: Path) -> Past:
    header, summary = load_header(folder), read_summary(folder)
    rows = summary["rows"] if summary else ()  # killed or cancelled before the end: a place in time and no means
    return Past(to_tree(folder), header, tuple(rows))


Key = tuple[str, str, str, str]


def history(runs: Sequence[Past], metrics: Sequence[str] = ()) -> list[Series]:
    """A series per suite, system, metric and profile, in order of appearance. Rows without a value leave no point."""
    groups: dict[Key, list[tuple[Past, Row]]] = {}
    for past in runs:
        for row in past.rows:
            if row["n"] and (not metrics or row["metric"] in metrics):
                key = (row["suite"], row["system"], row["metric"], row["profile"])
                groups.setdefault(key, []).append((past, row))
    return [_series(key, rows) for key, rows in groups.items()]


def _series(key: Key, rows: Sequence[tuple[Past, Row]]) -> Series:
    direction = _card(rows[-1][0], key[2])["direction"]
    points = [_point(past, row, _before(rows[:index], past, row)) for index, (past, row) in enumerate(rows)]
    return Series(*key, direction, relative_sd([row["mean"] for _, row in rows]), tuple(points))


def _before(earlier: Sequence[tuple[Past, Row]], past: Past, row: Row) -> tuple[Past, Row] | None:
    """The row to compare with: of the run before, with the same models if it has several rows."""
    runs = [pair for pair in earlier if pair[0] is not past]
    last = [pair for pair in runs if pair[0] is runs[-1][0]]
    same = [pair for pair in last if pair[1]["models"] == row["models"]]
    return next(iter([*same, *last]), None)


def _point(past: Past, row: Row, before: tuple[Past, Row] | None) -> Point:
    delta, moved, changed = None, False, tuple[Change, ...]()
    if before is not None:
        delta = row["mean"] - before[1]["mean"]
        moved = abs(delta) > TIE or row["n"] != before[1]["n"]
        changed = tuple(changes(_facts(*before), _facts(past, row))) if moved else ()
    return Point(
        past.name,
        past.started,
        row["n"],
        row["mean"],
        tuple(row["interval"]) if row["interval"] else None,
        tuple((model["id"], model["sha256"]) for model in row["models"]),
        delta,
        moved,
        changed,
    )


def _facts(past: Past, row: Row) -> dict[str, Any]:
    """Everything known about how a mean came about, the closest to it first."""
    return {
        "model": {model["id"]: model["sha256"] for model in row["models"]},
        "metric version": _card(past, row["metric"])["version"],
        "manifest": past.header["manifest"]["sha256"],
        "cases": row["n"],
        **{name: past.header[name] for name in WATCHED},
    }


def _card(past: Past, metric: str) -> Mapping[str, Any]:
    for card in past.header["metrics"]:
        if card["id"] == metric:
            found: Mapping[str, Any] = card
            return found
    raise UsageError(f"{past.name}: {HEADER} does not describe {metric}, which {SUMMARY} holds")
