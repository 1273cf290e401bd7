"""The sample-displacement test: clip i is scored with the script and questions of clip i + 30 (spec 9).

A manifest is displaced, run like any other, and both runs are compared: dimensions that the paper names must drop,
those that look at the clip alone must stay. Of B2, B3 and E1, which look at the script a little, it says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from evaluator.errors import UsageError
from evaluator.schema import Case, Score
from evaluator.suites.board import Board
from evaluator.suites.cutcraft.groups import DIMENSIONS

SHIFT = 30
MUST_DROP = frozenset({"A1", "A2", "A3", "A4", "B1", "C1", "D1", "D2", "D3", "E3"})
"""Dimensions that drop in the paper."""
MUST_STAY = frozenset({"E2", "F1", "F2"})
"""Dimensions that do not look at the script."""
SCRIPT = ("prompt", "category", "shots", "checklist", "data")
"""Fields of a line that come from the script."""


def displaced(lines: Sequence[Mapping[str, Any]], shift: int = SHIFT) -> list[dict[str, Any]]:
    """Manifest lines of each system with the script of the line `shift` further on, round the end.

    Case ids and clips stay, so that both runs are of the same cases. UsageError if a system would meet its own script.
    """
    found: list[dict[str, Any]] = []
    for system in dict.fromkeys(line.get("system", "") for line in lines):
        own = [line for line in lines if line.get("system", "") == system]
        if shift % len(own) == 0:
            raise UsageError(f"{len(own)} clips of {system or 'one system'}: a shift by {shift} changes nothing")
        found += [_displaced(line, own[(place + shift) % len(own)]) for place, line in enumerate(own)]
    return found


def board(
    cases: Sequence[Case], straight: Sequence[Score], shifted_cases: Sequence[Case], shifted: Sequence[Score]
) -> Board:
    """One row per dimension: the mean with the right script, with a wrong one, and the difference over common clips."""
    there = _by_case(straight)
    back = _by_case(shifted)
    rows = []
    for dimension in DIMENSIONS:
        pairs = [
            (there[case.id, dimension], back[case.id, dimension])
            for case in cases
            if (case.id, dimension) in there and (case.id, dimension) in back
        ]
        if not pairs:
            continue
        first, second = (fmean(side) for side in zip(*pairs, strict=True))
        kind = "must drop" if dimension in MUST_DROP else "must stay" if dimension in MUST_STAY else "not said"
        rows.append((dimension, kind, len(pairs), first, second, second - first))
    columns = ("dimension", "expected", "clips", "own script", "other script", "change")
    lost = {case.id for case in cases} ^ {case.id for case in shifted_cases}
    notes = (f"{len(lost)} clips are in one run only.",) if lost else ()
    return Board("displacement", "Sample displacement (CutCraft spec 9)", columns, tuple(rows), notes)


def _displaced(line: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in line.items() if name not in (*SCRIPT, "labels")}
    taken = {name: other[name] for name in SCRIPT if name in other}
    taken["data"] = {**other["data"], "shown": line["data"]["prompt_id"]}
    return {**kept, **taken}


def _by_case(scores: Sequence[Score]) -> dict[tuple[str, str], float]:
    return {(one.case, one.metric.upper()): one.value for one in scores if one.value is not None}
