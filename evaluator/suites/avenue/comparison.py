"""The table of direct comparisons (section 3): win rates over the pairs that both orders agree on, and the others.

Ties and verdicts that depend on the order are excluded, and how many there were stands beside each row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from evaluator.schema import Case, Score, Status
from evaluator.stats.preference import win_rates
from evaluator.suites.avenue.pairwise import METRICS, is_pair, rival_of
from evaluator.suites.board import Board, Cell

EXCLUDED = ("order_inconsistent", "tie")


def board(cases: Sequence[Case], scores: Sequence[Score]) -> Board | None:
    """System, dimension, win rate, pairs kept, pairs excluded by reason; None without pairwise records."""
    rivals = {case.id: rival_of(case) for case in cases if is_pair(case)}
    rows: list[tuple[Cell, ...]] = []
    for metric in METRICS:
        own = [score for score in scores if score.metric == metric.id and score.case in rivals]
        rows += _rows(metric.id.removeprefix("pairwise_"), own, rivals)
    if not rows:
        return None
    notes = ("a pair counts only if the judge names the same system in both orders; ties are excluded too",)
    columns = ("dimension", "system", "win rate", "kept", *EXCLUDED, "no answer")
    return Board("pairwise", "AVENUE, direct comparison", columns, tuple(rows), notes)


def _rows(dimension: str, scores: Sequence[Score], rivals: dict[str, str]) -> list[tuple[Cell, ...]]:
    kept = [(one.system, rivals[one.case], 2.0 * one.value - 1.0) for one in scores if one.value is not None]
    rates = win_rates(kept)
    met = Counter(system for first, second, _ in kept for system in (first, second))
    lost: dict[str, Counter[str]] = {}
    for score in scores:
        for system in (score.system, rivals[score.case]):
            lost.setdefault(system, Counter()).update([_excluded(score)] if score.value is None else [])
    return [
        (
            dimension,
            system,
            rates.get(system),
            met[system],
            *(lost[system][reason] for reason in (*EXCLUDED, "no answer")),
        )
        for system in lost
    ]


def _excluded(score: Score) -> str:
    if score.status is Status.SKIPPED and score.reason is not None and score.reason.code == "filtered":
        return score.reason.message.partition(":")[0]
    return "no answer"
