"""Which model serves which capability, whether its files are what the lock names, and what each suite lacks.

Knows suites only by the needs of their metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from evaluator.doctor.finding import Finding, Level
from evaluator.doctor.wanted import Wanted, in_parts, of_suite, only_stood_in
from evaluator.errors import EvaluatorError
from evaluator.experts.composed import STAND_INS
from evaluator.runtime.lock import ModelEntry
from evaluator.runtime.store import ModelStatus, Store
from evaluator.schema import Tier
from evaluator.suites import suites
from evaluator.suites.base import Suite


def findings(
    store: Store, named: Iterable[str], require_reference: bool = False, asked: Mapping[str, Wanted] | None = None
) -> Iterator[Finding]:
    """Everything about models for the suites `named` (all suites if empty), or for what the cases of a manifest asked.

    An embedded model that is not prepared or not the locked one is missing. A reference model that nobody mounted is a
    note, unless it is asked for and `require_reference` was given.
    """
    status = store.status(hashed=True)
    yield from (finding for model in status for finding in _files(model))
    yield from _sessions(store, status)
    chosen = list(named) or list(suites())
    for name in chosen:
        suite = suites()[name]
        wanted = of_suite(suite) if asked is None else asked[name]
        yield from _lacking(suite, in_parts(wanted, store), status, require_reference)
        if require_reference:
            yield from _stood_in(suite, wanted, store)


def _files(model: ModelStatus) -> Iterator[Finding]:
    """Problems with the files of an embedded model, or of a mounted one that is not whole."""
    for file in model.files:
        if file.state == "corrupt":
            found = f"{file.path} is not the locked file: expected SHA-256 {file.expected}, found {file.found}"
            yield Finding("models", model.entry.id, Level.MISSING, found, "copy or prepare it again: ./run.sh setup")
        elif file.state == "missing" and model.entry.tier is Tier.EMBEDDED and not model.entry.on_request:
            yield Finding("models", model.entry.id, Level.MISSING, f"{file.path} is missing", "./run.sh setup")


def _sessions(store: Store, status: Iterable[ModelStatus]) -> Iterator[Finding]:
    """Open every network that serves a capability: does the library take it, and on which provider."""
    for model in status:
        networks = [file.name for file in model.files if file.name.endswith(".onnx") and file.state != "corrupt"]
        if not model.resolved or not networks:
            continue
        try:
            providers = {store.session(model.entry.id, name).provider for name in networks}
        except EvaluatorError as error:
            yield Finding("models", model.entry.id, Level.MISSING, str(error), "mount a file that honours its contract")
            continue
        role = f"stands in for {model.entry.stands_in_for}" if model.entry.stands_in_for else "the published model"
        found = f"{model.entry.capability}, {role}; {len(networks)} files on {', '.join(sorted(providers))}"
        yield Finding("models", model.entry.id, Level.OK, found)


def _lacking(suite: Suite, wanted: Wanted, status: Iterable[ModelStatus], strict: bool) -> Iterator[Finding]:
    """Per suite: what serves every metric, or which published models a person may still mount, and from where."""
    serving = {model.entry.capability: model.entry for model in status if model.resolved}
    section = f"suite {suite.id}"
    served = [capability for capability in wanted if capability in serving and not serving[capability].stand_in]
    yield Finding(section, "served", Level.OK, f"{len(served)} of {len(wanted)} capabilities by the published model")
    for model in status:
        entry = model.entry
        if entry.capability not in wanted or entry.capability in served or entry.tier is not Tier.REFERENCE:
            continue
        how = _without(suite, entry.capability, wanted[entry.capability], serving.get(entry.capability))
        files = "; ".join(f"{file.path} ({file.expected or 'any that honours the contract'})" for file in model.files)
        level = Level.MISSING if strict else Level.NOTE
        yield Finding(section, entry.id, level, how, f"{files}, from {entry.origin.published}")
    yield from _on_request(suite, wanted, status)


def _stood_in(suite: Suite, wanted: Wanted, store: Store) -> Iterator[Finding]:
    """What no published model can be mounted for, where a reference is required."""
    for capability, metrics in wanted.items():
        if model := only_stood_in(capability, store):
            found = f"only a stand-in for {model} answers it, for {', '.join(metrics)}"
            todo = "leave these metrics out (--metrics), or do without --require-reference"
            yield Finding(f"suite {suite.id}", capability, Level.MISSING, found, todo)


def _on_request(suite: Suite, wanted: Wanted, status: Iterable[ModelStatus]) -> Iterator[Finding]:
    """What a suite can do beyond its protocol if it is asked to, and whether the models of that are here."""
    for capability, what in suite.on_request.items():
        asked = capability in wanted
        for entry, ready in ((model.entry, model.ready) for model in status if model.entry.capability == capability):
            how = "asked for" if asked else "off unless asked for"
            found = f"{how} ({what}); {'prepared' if ready else 'not prepared'}"
            level = Level.OK if ready else Level.MISSING if asked else Level.NOTE
            todo = "" if ready else f"python -m export build {entry.id}"
            yield Finding(f"suite {suite.id}", entry.id, level, found, todo)


def _without(suite: Suite, capability: str, metrics: Iterable[str], instead: ModelEntry | None) -> str:
    """What becomes of the metrics that ask for a capability while its published model is not mounted."""
    if instead is not None or capability in STAND_INS:
        return f"{instead.id if instead else STAND_INS[capability]} stands in"
    measured = [name for name in metrics if suite.metric(name).instead is not None]
    skipped = [name for name in metrics if name not in measured]
    told = [f"skipped: {', '.join(skipped)}"] if skipped else []
    return "; ".join([*told, *([f"measured in another way: {', '.join(measured)}"] if measured else [])])
