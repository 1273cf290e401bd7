"""Which sub-metrics a sample calls for (section 2), from its board and metadata alone.

A metric that does not apply leaves a record all the same: skipped as `not_applicable`, with the router's reason, out of
numerator and denominator. That is kept apart from `filtered` (SLS's pre-screen, too little speech), from failures
(`failed`) and from samples that a system has no output for (the tables count those).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from evaluator.errors import NotApplicable
from evaluator.metrics.base import Metric, Outcome
from evaluator.schema import Case
from evaluator.suites.multiref_compass.data import MultiRefData, of, views, visual, voices

Rule = Callable[[MultiRefData, Case], bool]


def _compared(data: MultiRefData, case: Case) -> bool:
    return any(views(case, entity.entity_id) for entity in data.entities)


RULES: dict[str, tuple[Rule, str]] = {
    "ef": (_compared, "no entity has a reference picture"),
    "dp": (lambda data, case: visual(case), "no reference can be seen"),
    "bc": (
        lambda data, case: data.board == "B1" or len(data.entities) >= 2,
        "a single entity has nothing to be confused with",
    ),
    "sls": (lambda data, case: data.facts.speech in {"monologue", "dialogue"}, "nobody is to speak on screen"),
    "esm": (lambda data, case: data.facts.sfx, "the prompt has no sound events"),
    "sc": (
        lambda data, case: data.facts.sfx or data.facts.speech in {"monologue", "dialogue"},
        "no sound with a visible source is asked for",
    ),
    "ts": (
        lambda data, case: data.board == "B4" and bool(voices(case)),  # whether anybody speaks is heard, not told
        "only for board B4 with a reference voice",
    ),
    "atf": (
        lambda data, case: data.facts.sfx or data.facts.ambience or data.facts.music or data.facts.silence,
        "no sound other than speech is asked for",
    ),
    "sca": (lambda data, case: bool(data.facts.exact_lines), "no exact words are given"),
    "tof": (
        lambda data, case: data.facts.multi_shot or data.facts.ordered_actions,
        "neither several shots nor an order of visible events",
    ),
}
"""First part of a metric's id -> (whether it applies, why not). What is not named here always applies."""


def not_routed(metric_id: str, case: Case) -> str:
    """Why the router leaves a metric out of a case; empty if it does not."""
    rule = RULES.get(metric_id.partition("_")[0])
    if rule is None or rule[0](of(case), case):
        return ""
    return rule[1]


def routed(metric: Metric, case: Case) -> Metric:
    """The metric, or in its place one that needs nothing, asks nobody and says why it does not apply."""
    reason = not_routed(metric.id, case)
    if not reason:
        return metric
    return replace(
        metric,
        needs={},
        needs_of=None,
        instead=None,
        judged=None,
        optional=frozenset(),
        reads=("data",),
        compute=partial(_na, reason),
    )


def _na(reason: str, case: Case) -> Outcome:
    raise NotApplicable("not_applicable", f"router: {reason}")
