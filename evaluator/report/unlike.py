"""What makes two sides unlike: reasons to refuse a comparison, and facts to print beside one.

A difference of scores means something only if both were computed in the same way. Only records that are compared count:
a model that serves another metric may differ.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from evaluator.errors import UsageError
from evaluator.report.sides import Entry, Side
from evaluator.schema import ModelRef

KINDS = ("profile", "tier", "model", "metric", "judge")
"""What must be equal, and the words of --allow: the profile, the tier of the models, their digests, the version of a
metric, the judge."""

NOTED = ("evaluator", "revision", "lock_sha256", "device", "driver", "decoder", "backends", "python", "packages")
"""Header fields that may move a number in the last digits or through a bug; said, not refused."""

Found = dict[str, dict[str, None]]  # kind -> sentences, each once


def differences(first: Side, second: Side, pairs: Iterable[tuple[Entry, Entry]]) -> Found:
    """Kind -> what differs between the compared records, for the kinds that differ."""
    found: Found = {}
    metrics: set[str] = set()
    for ours, theirs in pairs:
        metrics.add(ours.scores[0].metric)
        for kind, text in _unlike_records(ours, theirs):
            found.setdefault(kind, {})[text] = None
    for kind, text in _unlike_headers(first.header, second.header, metrics):
        found.setdefault(kind, {})[text] = None
    return found


def refuse(first: Side, second: Side, found: Found, allowed: Collection[str]) -> None:
    """UsageError that says what differs, unless every kind is allowed."""
    kinds = [kind for kind in KINDS if kind in found and kind not in allowed]
    if kinds:
        told = "\n".join(f"  {kind}: {text}" for kind in kinds for text in found[kind])
        raise UsageError(
            f"{first.name} and {second.name} were not scored in the same way:\n{told}\n"
            f"--allow {','.join([*allowed, *kinds])} compares them all the same"
        )


def _unlike_records(ours: Entry, theirs: Entry) -> Iterable[tuple[str, str]]:
    metric = ours.scores[0].metric
    profiles = [{score.profile for score in entry.scores} for entry in (ours, theirs)]
    if profiles[0] != profiles[1]:
        yield "profile", " against ".join("/".join(sorted(names)) for names in profiles)
    models = [
        {model for score in entry.scores if score.value is not None for model in score.models}
        for entry in (ours, theirs)
    ]
    tiers = ["/".join(sorted({model.tier for model in found})) or "no model" for found in models]
    if tiers[0] != tiers[1]:
        yield "tier", f"{metric}: {tiers[0]} against {tiers[1]}"
    if models[0] != models[1]:
        yield "model", f"{metric}: {_named(models[0] - models[1])} against {_named(models[1] - models[0])}"


def _named(models: Iterable[ModelRef]) -> str:
    return ", ".join(sorted(f"{model.id} {model.sha256[:12]}" for model in models)) or "none"


def _unlike_headers(
    ours: Mapping[str, Any], theirs: Mapping[str, Any], metrics: Collection[str]
) -> Iterable[tuple[str, str]]:
    versions = [{card["id"]: card["version"] for card in header["metrics"]} for header in (ours, theirs)]
    for metric in sorted(metrics):
        before, after = (found.get(metric) for found in versions)
        if before != after:
            yield "metric", f"{metric}: version {before} against {after}"
    if ours["judge"] != theirs["judge"]:
        yield "judge", f"{ours['judge']} against {theirs['judge']}"


def notes(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> list[str]:
    """What else differs between two headers, one line each, digests shortened."""
    noted = [{name: header[name] for name in NOTED} for header in (ours, theirs)]
    return [f"{name}: {before} against {after}" for name, before, after in changes(*noted)]


def changes(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(field, before, after) where two trees of facts differ, digests shortened; inner ones as field.key."""
    for field in dict.fromkeys([*ours, *theirs]):
        before, after = ours.get(field), theirs.get(field)
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from ((f"{field}.{name}", old, new) for name, old, new in changes(before, after))
        elif before != after:
            yield field, _short(before), _short(after)


def _short(value: Any) -> str:
    text = "none" if value is None else str(value)
    return text[:12] if len(text) in {40, 64} and set(text) <= set("0123456789abcdef") else text
