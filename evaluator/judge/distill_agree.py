"""How well a student agrees with its teacher (or any judge with another), task by task, beyond chance.

Calls are matched by what was asked, not by who answered. Agreement is about verdicts: labels, or JSON answers without
their free texts. Intervals are bootstrapped over clips: questions about the same clip are not independent.
Kappa (Cohen 1960) does not exist where only one answer was ever given: None, never 1; the shares show why.
Knows ledgers and statistics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from evaluator.errors import UsageError
from evaluator.judge.audit import Answered, answers
from evaluator.judge.clips import Clips
from evaluator.stats.agreement import cohen_kappa, confusion
from evaluator.stats.bootstrap import Interval, cluster_sums, interval, ratio, tally_interval

MOST_VERDICTS = 32
"""More different verdicts than this (JSON answers with several grades) are no categories: accuracy only."""

Floats = NDArray[np.float64]
Pair = tuple[Answered, Answered]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One task. `confusion[i][j]` counts teacher says `verdicts[i]`, student says `verdicts[j]`."""

    task: str
    n: int
    clips: int
    accuracy: float
    accuracy_interval: Interval | None
    kappa: float | None
    kappa_interval: Interval | None
    verdicts: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]
    distance: float | None  # mean total variation distance of P(label), 0 .. 1; None without probabilities
    only_teacher: int  # items that the student did not answer
    only_student: int


def agree(teacher: Path, student: Path, rows: AbstractSet[str] | None = None, seed: int = 0) -> list[Agreement]:
    """Agreement of two ledgers for each task, over the questions whose digest is in `rows` (all, if None).

    Raises UsageError if there is no question that both answered, LedgerError for a damaged ledger.
    """
    ours, theirs = _answers(teacher, rows), _answers(student, rows)
    if not ours.keys() & theirs.keys():
        raise UsageError(f"{teacher} and {student} answer no question in common: nothing to compare")
    clips = Clips()
    for call in ours.values():
        clips.add(call.item, call.media)
    tasks = dict.fromkeys(call.task for key, call in ours.items() if key in theirs)
    return [_task(task, ours, theirs, clips, seed) for task in sorted(tasks)]


def _answers(path: Path, rows: AbstractSet[str] | None) -> dict[str, Answered]:
    return answers(path, "question", lambda call: rows is None or call.keys.question in rows)


def _task(
    task: str, ours: Mapping[str, Answered], theirs: Mapping[str, Answered], clips: Clips, seed: int
) -> Agreement:
    pairs = [(call, theirs[key]) for key, call in ours.items() if call.task == task and key in theirs]
    groups = [clips.group(first.item) for first, _ in pairs]
    same = cluster_sums([float(first.verdict == second.verdict) for first, second in pairs], groups)
    verdicts = _verdicts(pairs)
    tallies = _tallies(pairs, groups, verdicts)
    kappa = float(_kappas(tallies.sum(axis=0)))
    return Agreement(
        task=task,
        n=len(pairs),
        clips=len(same),
        accuracy=float(ratio(same.sum(axis=0)[None])[0]),
        accuracy_interval=tally_interval(same, ratio, seed=seed),
        kappa=None if math.isnan(kappa) else kappa,
        kappa_interval=interval(len(tallies), lambda rows: _kappas(_times(rows) @ tallies), seed=seed),
        verdicts=verdicts,
        confusion=tuple(tuple(int(count) for count in line) for line in _square(tallies.sum(axis=0))),
        distance=_distance(pairs),
        only_teacher=sum(call.task == task for key, call in ours.items() if key not in theirs),
        only_student=sum(call.task == task for key, call in theirs.items() if key not in ours),
    )


def _verdicts(pairs: Sequence[Pair]) -> tuple[str, ...]:
    """All verdicts: labels in the order of the questions, given or not, then others sorted. Empty if too many."""
    labels = dict.fromkeys(label for first, _ in pairs for label in first.labels)
    others = {call.verdict for pair in pairs for call in pair} - labels.keys()
    found = (*labels, *sorted(others))
    return found if len(found) <= MOST_VERDICTS else ()


def _tallies(pairs: Sequence[Pair], groups: Sequence[str], verdicts: tuple[str, ...]) -> Floats:
    """Confusion matrix of each clip, flat [clips, K * K]."""
    members: dict[str, list[Pair]] = {}
    for group, pair in zip(groups, pairs, strict=True):
        members.setdefault(group, []).append(pair)
    if not verdicts:
        return np.zeros((len(members), 0))
    matrices = (
        confusion([first.verdict for first, _ in some], [second.verdict for _, second in some], verdicts)
        for some in members.values()
    )
    return np.stack([matrix.ravel() for matrix in matrices])


def _kappas(sums: Floats) -> Floats:
    """[..., K * K] -> [...]; NaN without categories."""
    return cohen_kappa(_square(sums)) if sums.shape[-1] else np.full(sums.shape[:-1], np.nan)


def _square(sums: Floats) -> Floats:
    """[..., K * K] -> [..., K, K]"""
    side = math.isqrt(sums.shape[-1])
    return sums.reshape(*sums.shape[:-1], side, side)


def _times(rows: NDArray[np.int64]) -> Floats:
    """How often each unit was drawn [R, U], from the units drawn [R, U]: sums without a copy of every matrix."""
    return np.stack([np.bincount(row, minlength=rows.shape[1]) for row in rows]).astype(np.float64)


def _distance(pairs: Sequence[Pair]) -> float | None:
    """Mean over pairs of half the sum of |difference of P(label)|."""
    shares = [(first.answer.probabilities, second.answer.probabilities) for first, second in pairs]
    distances = [
        sum(abs(ours.get(label, 0.0) - theirs.get(label, 0.0)) for label in ours.keys() | theirs.keys()) / 2
        for ours, theirs in shares
        if ours and theirs
    ]
    return fmean(distances) if distances else None
