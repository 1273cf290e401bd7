"""One run against a file of human judgements: the figures of every metric that the judgements are about.

Knows records and judgements; the figures are `agree_pairs` and `agree_cases`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.errors import UsageError
from evaluator.metrics.base import Direction
from evaluator.report.agree_cases import agree_on_labels, correlate
from evaluator.report.agree_pairs import PairAgreement, agree_on_pairs
from evaluator.report.figures import Figure
from evaluator.report.human import Human, Judgement
from evaluator.report.preferences import preferences
from evaluator.report.runs import Run
from evaluator.report.tasks import Task
from evaluator.stats.bootstrap import Method


@dataclass(frozen=True, slots=True)
class Options:
    """What a person may choose about an agreement. `metrics`: empty for all that can agree with anybody."""

    metrics: tuple[str, ...] = ()
    raw: bool = False  # compare the raw figure of a record instead of its value
    interval: Method = "percentile"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Agreement:
    """One metric. `judgements` were made about it; `without_value` of them are about outputs that it did not score."""

    metric: str
    judgements: int
    without_value: int
    cases: tuple[Figure, ...]  # over outputs
    pairs: PairAgreement | None  # over pairs of outputs


def agree(run: Run, human: Human, tasks: Mapping[str, Task], options: Options) -> list[Agreement]:
    """Figures per metric, in the order of the run's header. UsageError if nothing can be compared."""
    found = [
        _agree(run, metric, human, judgements, tasks, options)
        for metric in _chosen(run, human, options)
        if (judgements := [one for one in human.judgements if one.metric in {"", metric}])
    ]
    found = [one for one in found if one.cases or one.pairs]
    if not found:
        raise UsageError(
            f"{run.name}: no metric has values for what was judged"
            + ("" if human.kind != "rank" else ", or outputs lack an item to be ranked in (add a column item)")
        )
    return found


def _chosen(run: Run, human: Human, options: Options) -> list[str]:
    """Metrics that were asked for. A fact has no good direction, so that only labels can agree with it."""
    unknown = sorted(set(options.metrics) - run.cards.keys())
    if unknown:
        raise UsageError(f"--metrics {', '.join(unknown)}: not in {run.name}; there are {', '.join(sorted(run.cards))}")
    facts = [name for name in run.cards if human.kind != "label" and run.direction(name) is Direction.NONE]
    asked = {*options.metrics, *(one.metric for one in human.judgements)} & set(facts)
    if asked:
        raise UsageError(f"{', '.join(sorted(asked))}: neither high nor low is better, so nobody can agree with it")
    return [name for name in run.cards if name not in facts and (not options.metrics or name in options.metrics)]


def _agree(
    run: Run,
    metric: str,
    human: Human,
    judgements: Sequence[Judgement],
    tasks: Mapping[str, Task],
    options: Options,
) -> Agreement:
    flip = -1.0 if human.kind != "label" and run.direction(metric) is Direction.LOWER else 1.0
    values = {case: flip * value for case, value in _values(run, metric, options.raw).items()}
    items = _items(judgements, tasks)
    chosen = (options.interval, options.seed)
    missing = sum(any(case not in values for case in one.cases) for one in judgements)
    cases: list[Figure] = []
    if missing < len(judgements) and human.kind == "score":
        cases = correlate(judgements, values, items, *chosen)
    elif missing < len(judgements) and human.kind == "label":
        cases = agree_on_labels(judgements, values, items, *chosen)
    pairs = None
    if human.kind != "label":
        people = preferences(human, judgements, items)
        systems = {score.case: score.system for score in run.scores.values()}
        pairs = agree_on_pairs(people, values, systems, *chosen)
    return Agreement(metric, len(judgements), missing, tuple(cases), pairs)


def _values(run: Run, metric: str, raw: bool) -> dict[str, float]:
    found = {score.case: score.raw if raw else score.value for score in run.scores.values() if score.metric == metric}
    return {case: value for case, value in found.items() if value is not None}


def _items(judgements: Sequence[Judgement], tasks: Mapping[str, Task]) -> dict[str, str]:
    """Case -> item: the file's column, else the task of the manifest. Cases with neither belong to no item."""
    found = {case: task.key for case, task in tasks.items() if task.key}
    return found | {one.cases[0]: one.item for one in judgements if one.item}
