"""Two boards compared: only figures that another machine should reproduce, and only losses beyond noise.

A ratio is a loss when it is worse than the old one by more than MARGIN of it and by more than its own slack. Absolute
times are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from evaluator.bench.board import SCHEMA, TARGETS, Better, Target
from evaluator.errors import UsageError

MARGIN = 0.25
"""Of the old figure."""


def read_board(path: Path) -> dict[str, Any]:
    """A board that was written with --json or --out. Raises UsageError if it is none."""
    try:
        tree: dict[str, Any] = orjson.loads(path.read_bytes())
        if tree["schema"] != SCHEMA:
            raise UsageError(f"{path}: schema {tree['schema']}, this version reads {SCHEMA}; make it again")
        return tree
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: expected a result of `evaluator bench` ({error})") from error


def losses(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """One line per figure that got clearly worse. Figures that either side did not measure are left out."""
    before, after = _values(old), _values(new)
    return [
        f"{target.id} {target.what}: {before[target.id]:.3g} before, {after[target.id]:.3g} now"
        for target in TARGETS
        if target.portable and target.id in before and target.id in after
        if _lost(target, before[target.id], after[target.id])
    ]


def _lost(target: Target, old: float, new: float) -> bool:
    if target.better is Better.EQUAL:
        return new != old and new != target.limit
    worse = new - old if target.better is Better.LOWER else old - new
    return worse > max(MARGIN * abs(old), target.slack)


def _values(board: Mapping[str, Any]) -> dict[str, float]:
    return {row["id"]: row["value"] for row in board["figures"] if row["value"] is not None}
