"""summary.json: means per suite, system and metric, with how many cases are behind each and how many are not.

Scores of different tiers, models or profiles, and a judge's answers to native and to substitute evidence, never meet in
one mean: each combination is a row of its own. Intervals draw whole source clips: outputs made from one clip are not
independent of each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import get_type_hints

import orjson
from pydantic import BaseModel

from evaluator.errors import UsageError
from evaluator.runner.written import ANEW, Tree, kinds, many, read_tree
from evaluator.runtime.files import write_atomic
from evaluator.schema import SCHEMA_VERSION, Case, ModelRef, Score, Status, rounded, to_tree
from evaluator.stats.bootstrap import Interval, mean_interval
from evaluator.suites.board import Board

SUMMARY = "summary.json"


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one system of one suite, over the cases that the same models scored.

    `evidence` is what a judge was shown (`evaluator.metrics.answers.evidence`), empty for what no judge said.
    `skipped` and `failed` count (reason, cases). `interval` is the 95 % bootstrap interval of the mean over `clusters`
    independent units: source clips if they are known, else cases.
    """

    suite: str
    system: str
    metric: str
    profile: str
    models: tuple[ModelRef, ...]
    evidence: str
    n: int
    clusters: int
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


@dataclass(frozen=True, slots=True)
class Summary:
    """What summary.json holds: the means, and the tables that each protocol prints, by the name of its suite."""

    schema: int
    rows: Sequence[Row]
    sections: Mapping[str, Sequence[Board]]


@cache
def _kinds() -> type[BaseModel]:
    """What each field of a summary must be, if it is there."""
    hints = {**get_type_hints(Summary), "rows": many(kinds("Row", get_type_hints(Row)))}
    del hints["schema"]  # it is looked at first
    return kinds("Summary", hints)


def read_summary(folder: Path) -> Tree | None:
    """summary.json of a run, or None if there is none. Raises UsageError for anything else."""
    path = folder / SUMMARY
    if not path.is_file():
        return None
    tree = read_tree(path, _kinds())
    for place, row in enumerate(tree["rows"]):
        if (row["mean"] is None) != (row["n"] == 0):
            raise UsageError(f"{path}: rows[{place}]: a mean of {row['mean']} over {row['n']} cases; {ANEW}")
    return tree


Origins = Mapping[str, str]
"""Case -> what its output was made from; a case that is not in it is its own origin."""


def origins(cases: Iterable[Case]) -> dict[str, str]:
    """The source clip of each case, else its prompt, else itself."""
    return {case.id: str(case.source or case.prompt or case.id) for case in cases}


Key = tuple[str, str, str, str, tuple[ModelRef, ...]]


def aggregate(scores: Iterable[Score], origins: Origins | None = None, intervals: bool = True) -> list[Row]:
    """Rows in the order in which systems and metrics first appear. Without `intervals`, means only: much faster."""
    groups: dict[Key, list[Score]] = {}
    for score in scores:
        key = (score.suite, score.system, score.metric, score.profile, score.models)
        groups.setdefault(key, []).append(score)
    return [
        _row((*key, kind), part, origins or {}, intervals)
        for key, members in groups.items()
        for kind, part in _by_evidence(members).items()
    ]


def breakdown(scores: Iterable[Score], strata: Mapping[str, str]) -> dict[str, list[Row]]:
    """Stratum -> rows without intervals, over its cases only; strata in order of first appearance."""
    parts: dict[str, list[Score]] = {}
    for score in scores:
        if score.case in strata:
            parts.setdefault(strata[score.case], []).append(score)
    return {name: aggregate(members, intervals=False) for name, members in parts.items()}


def evidence_of(score: Score) -> str:
    """What a judge was shown for this record: `native`, `substitute`, `mixed`; empty if it rests on no answer."""
    kind = score.details.get("evidence", "")
    return kind if isinstance(kind, str) else ""


def _by_evidence(scores: list[Score]) -> dict[str, list[Score]]:
    """Kind -> records. Those without an answer are counted with those that have one, if these are of one kind."""
    parts: dict[str, list[Score]] = {}
    for score in scores:
        parts.setdefault(evidence_of(score), []).append(score)
    kinds = parts.keys() - {""}
    return {kinds.pop(): scores} if len(kinds) == 1 else parts


def _row(
    key: tuple[str, str, str, str, tuple[ModelRef, ...], str], scores: list[Score], origins: Origins, intervals: bool
) -> Row:
    scored = [(score.value, origins.get(score.case, score.case)) for score in scores if score.value is not None]
    values, units = [value for value, _ in scored], [unit for _, unit in scored]
    return Row(
        *key,
        n=len(values),
        clusters=len(set(units)),
        mean=fmean(values) if values else None,
        interval=_interval(values, units) if intervals else None,
        median=median(values) if values else None,
        low=min(values, default=None),
        high=max(values, default=None),
        skipped=_reasons(scores, Status.SKIPPED),
        failed=_reasons(scores, Status.FAILED),
    )


def _interval(values: list[float], units: list[str]) -> Interval | None:
    """Over clusters only where there are any: independent values need no second column to be drawn."""
    return mean_interval(values, groups=units if len(set(units)) < len(units) else None)


def _reasons(scores: list[Score], status: Status) -> dict[str, int]:
    found = Counter(score.reason.code for score in scores if score.status is status and score.reason)
    return dict(sorted(found.items()))


def write_summary(folder: Path, rows: list[Row], sections: Mapping[str, Sequence[Board]] | None = None) -> None:
    """Write summary.json into the output folder."""
    tree = rounded(to_tree(Summary(SCHEMA_VERSION, rows, sections or {})))
    write_atomic(folder / SUMMARY, orjson.dumps(tree, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
