"""summary.json: means per suite, system and metric, with how many cases are behind each and how many are not.

Scores of different tiers, models or profiles never meet in one mean: each combination is a row of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median

import orjson

from evaluator.runner.writer import write_atomic
from evaluator.schema import SCHEMA_VERSION, ModelRef, Score, Status, rounded, to_tree
from evaluator.stats.bootstrap import mean_interval
from evaluator.suites.board import Board

SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one system of one suite, over the cases that the same models scored.

    `skipped` and `failed` count (reason, cases); `interval` is the 95 % bootstrap interval of the mean.
    """

    suite: str
    system: str
    metric: str
    profile: str
    models: tuple[ModelRef, ...]
    n: int
    mean: float | None
    interval: tuple[float, float] | None
    median: float | None
    low: float | None
    high: float | None
    skipped: dict[str, int] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)

    @property
    def stand_in(self) -> bool:
        """True if any model behind the row is not the published one."""
        return any(model.stands_in_for for model in self.models)


Key = tuple[str, str, str, str, tuple[ModelRef, ...]]


def aggregate(scores: Iterable[Score]) -> list[Row]:
    """Rows in the order in which systems and metrics first appear."""
    groups: dict[Key, list[Score]] = {}
    for score in scores:
        key = (score.suite, score.system, score.metric, score.profile, score.models)
        groups.setdefault(key, []).append(score)
    return [_row(key, members) for key, members in groups.items()]


def _row(key: Key, scores: list[Score]) -> Row:
    values = [score.value for score in scores if score.value is not None]
    return Row(
        *key,
        n=len(values),
        mean=fmean(values) if values else None,
        interval=mean_interval(values),
        median=median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        skipped=_reasons(scores, Status.SKIPPED),
        failed=_reasons(scores, Status.FAILED),
    )


def _reasons(scores: list[Score], status: Status) -> dict[str, int]:
    found = Counter(score.reason.code for score in scores if score.status is status and score.reason)
    return dict(sorted(found.items()))


def write_summary(folder: Path, rows: list[Row], sections: Mapping[str, Sequence[Board]] | None = None) -> None:
    """Write summary.json into the output folder: the means, and the tables that each protocol prints."""
    tree = {"schema": SCHEMA_VERSION, "rows": rounded(to_tree(rows)), "sections": rounded(to_tree(sections or {}))}
    write_atomic(folder / SUMMARY, orjson.dumps(tree, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
