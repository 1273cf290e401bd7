"""What a suite, or the cases of a manifest, ask of models: capabilities, and the metrics that ask for each.

A capability that is put together from published models (`Composed` without a stand-in) is asked of its parts.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping

from evaluator.errors import UsageError
from evaluator.experts.composed import STAND_INS, Composed
from evaluator.runtime.store import Store
from evaluator.schema import Case, ExpertNeed, Need
from evaluator.suites import suites
from evaluator.suites.base import Suite

Wanted = Mapping[str, tuple[str, ...]]
"""Capability -> metrics that ask for it."""


def of_suite(suite: Suite) -> Wanted:
    """What a suite may ask for, whatever its cases are."""
    asked = [(metric.id, need) for metric in suite.metrics for need in metric.needs.values()]
    return _merged(suite.case_needs, _by_capability(asked))


def of_cases(cases: Iterable[Case], profile: str) -> dict[str, Wanted]:
    """What the cases of a manifest ask for in one profile, by suite. Raises UsageError for a suite without it."""
    found: dict[str, Wanted] = {}
    for case in cases:
        suite = suites()[case.suite]
        if profile not in suite.profiles:
            raise UsageError(f"--profile {profile}: suite {suite.id} has {', '.join(suite.profiles)}")
        metrics = suite.metrics_of(case, profile)
        asked = [(metric.id, need) for metric in metrics for need in metric.needs_for(case).values()]
        found[suite.id] = _merged(found.get(suite.id, {}), _by_capability(asked))
    return found


def in_parts(wanted: Wanted, store: Store) -> Wanted:
    """The same, with the capabilities of its parts in the place of one that is put together from published models."""
    found: Wanted = {}
    for capability, metrics in wanted.items():
        found = _merged(found, dict.fromkeys(_parts(capability, store), metrics))
    return found


def only_stood_in(capability: str, store: Store) -> str:
    """The published model that nobody can mount for a capability, because only a stand-in answers it; else empty."""
    if capability in store.lock.capabilities or capability not in STAND_INS:
        return ""
    return _composed(capability, store).stands_in_for


def _parts(capability: str, store: Store) -> list[str]:
    if capability in store.lock.capabilities or capability not in STAND_INS:
        return [capability]
    expert = _composed(capability, store)
    if expert.stands_in_for:
        return [capability]
    needs = [need.capability for need in expert.needs(ExpertNeed(capability)).values() if isinstance(need, ExpertNeed)]
    return [*(store.lock[model].capability for model in expert.weights), *needs]


def _composed(capability: str, store: Store) -> Composed:
    expert: Composed = importlib.import_module(f"evaluator.experts.{STAND_INS[capability]}").EXPERT(store)
    return expert


def _by_capability(asked: Iterable[tuple[str, Need]]) -> Wanted:
    found: dict[str, dict[str, None]] = {}
    for metric, need in asked:
        if isinstance(need, ExpertNeed):
            found.setdefault(need.capability, {})[metric] = None
    return {capability: tuple(metrics) for capability, metrics in found.items()}


def _merged(one: Wanted, other: Wanted) -> Wanted:
    """Both, with every metric named once."""
    return {name: tuple(dict.fromkeys([*one.get(name, ()), *other.get(name, ())])) for name in [*one, *other]}
