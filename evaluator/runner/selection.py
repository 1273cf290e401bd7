"""Which cases and metrics a run is about, and whether what was asked for exists.

Knows suites and options; opens no clip but for the facts that a suite prepares its cases with, and plans nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from evaluator.errors import ModelMissing, UsageError
from evaluator.judge.types import Modality
from evaluator.media.probe import probe
from evaluator.media.types import ClipInfo
from evaluator.metrics.base import Metric
from evaluator.runner.options import RunOptions
from evaluator.runner.outcome import Absent, attempt
from evaluator.runner.plan import shard
from evaluator.schema import Case
from evaluator.suites import suites


def select(cases: Sequence[Case], options: RunOptions) -> list[Case]:
    """The cases of this run: by suite, then this shard's, then the first `limit`."""
    unknown = set(options.suites) - {case.suite for case in cases}
    if unknown:
        raise UsageError(f"--suite {', '.join(sorted(unknown))}: no case of the manifest belongs to it")
    chosen = [case for case in cases if not options.suites or case.suite in options.suites]
    return shard(chosen, *options.shard)[: options.limit]


def prepared(cases: Sequence[Case], whole: Sequence[Case]) -> list[Case]:
    """The cases with what their suites find out from all cases of the manifest (`Suite.prepare`)."""
    facts = cache(clip_facts)
    ready = {
        case.id: case
        for name in dict.fromkeys(case.suite for case in cases)
        for case in suites()[name].prepare(
            [case for case in cases if case.suite == name], [case for case in whole if case.suite == name], facts
        )
    }
    return [ready[case.id] for case in cases]


def clip_facts(path: Path) -> ClipInfo | None:
    """Facts of a clip; None if it cannot be read, which the unit that decodes it will report."""
    found = attempt(lambda: probe(path))
    return None if isinstance(found, Absent) else found


def chosen_metrics(case: Case, wanted: Sequence[str], profile: str) -> list[Metric]:
    """The metrics of a case's suite that apply to it and were asked for."""
    suite = suites()[case.suite]
    return [metric for metric in suite.metrics_of(case, profile) if not wanted or metric.id in wanted]


def asked_models(cases: Iterable[Case], options: RunOptions) -> dict[str, frozenset[Modality]]:
    """Whom the metrics of the selection ask, by the model that alone may answer ("": any judge), and what they show."""
    found: dict[str, frozenset[Modality]] = {}
    for case in cases:
        for metric in chosen_metrics(case, options.metrics, options.profile):
            if ask := metric.judged:
                found[ask.model] = found.get(ask.model, frozenset()) | ask.shows
    return found


def judge_models(named: Collection[str]) -> list[str]:
    """The models that alone may answer for some metric of these suites."""
    every = (
        metric
        for suite in map(suites().__getitem__, named)
        for own in (suite.metrics, *(variant.values() for variant in suite.variants.values()))
        for metric in own
    )
    return sorted({metric.judged.model for metric in every if metric.judged and metric.judged.model})


def check_choices(cases: Sequence[Case], options: RunOptions, whole: Sequence[Case] = ()) -> None:
    """Unknown metrics, profiles and models of judges, in one message each.

    A metric of any suite of the `whole` manifest is known: a shard may hold no case of it.
    """
    models = judge_models(suites()) if options.judge.reserved else []
    for one in options.judge.reserved:
        if one.model.lower() not in {model.lower() for model in models}:
            raise UsageError(f"--judge-for {one.model}: no metric asks for that model; there are {', '.join(models)}")
    named = {case.suite for case in cases}
    known = {metric.id for name in named | {case.suite for case in whole} for metric in suites()[name].metrics}
    unknown = sorted(set(options.metrics) - known)
    if unknown:
        near = get_close_matches(unknown[0], known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UsageError(f"--metrics {', '.join(unknown)}: no such metric; {hint}there are {', '.join(sorted(known))}")
    if options.require_reference:
        for metric in (metric for case in cases for metric in chosen_metrics(case, options.metrics, options.profile)):
            for published in metric.stands_in_for.values():
                raise ModelMissing(f"{metric.id} stands in for {published}, and a reference model is required")
    for name in sorted(named):
        if options.profile not in suites()[name].profiles:
            raise UsageError(f"--profile {options.profile}: suite {name} has {', '.join(suites()[name].profiles)}")
