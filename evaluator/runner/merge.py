"""Joins the output folders of shards: the same bytes as one run over the whole manifest.

Runs no metric. Refuses folders that do not belong together, and says what differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import UsageError
from evaluator.judge.join import join
from evaluator.judge.ledger import Ledger
from evaluator.manifest import Manifest
from evaluator.runner import prom
from evaluator.runner.header import HEADER, REQUIRED, RunStatus, header_of, read_header
from evaluator.runner.judging import LEDGER
from evaluator.runner.selection import chosen_metrics
from evaluator.runner.writer import SCORES, Key, Record, locked, read_records, write_in_order
from evaluator.runner.written import ANEW
from evaluator.runtime.files import write_atomic
from evaluator.schema import Score, Status, to_tree

MUST_AGREE = ("schema", "evaluator", "profile", "lock_sha256", "packages", "device")
"""Header fields in which two parts of one run may not differ."""

SAME_CHOICE = ("metrics", "suites", "limit", "require_reference")
"""Options in which they may not differ either: what was asked for."""

LISTED = ("metrics", "models")
"""Header fields that list what a part used, by id: parts may use different ones, but not the same id differently."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The joined records in manifest order, and the (case, metric) pairs that no part holds."""

    scores: tuple[Score, ...]
    missing: tuple[Key, ...]
    status: RunStatus


def merge(manifest: Manifest, parts: Sequence[Path], out: Path) -> Merged:
    """Join `parts` into `out`. Raises UsageError if a part is not a finished run of this manifest or parts disagree."""
    if out.resolve() in {part.resolve() for part in parts}:
        raise UsageError(f"{out}: is one of the parts; choose another --out")
    headers = [_header(part, manifest) for part in parts]
    for part, header in zip(parts[1:], headers[1:], strict=True):
        _agree(parts[0], headers[0], part, header)
    lists = {name: _listed(name, parts, headers) for name in LISTED}
    found = _union(parts)
    _of_one_suite(manifest, found)
    with locked(out):
        order = _order(manifest, headers[0]["options"])
        write_in_order(out / SCORES, order, found)
        ledger = _join_ledgers(parts, out)
        scores = tuple(found[key].score for key in order if key in found)
        missing = () if headers[0]["options"]["limit"] else tuple(key for key in order if key not in found)
        status = _status(scores, missing)
        judged = {"judge": _judge(headers), "judge_calls": _calls(headers, ledger)}
        header = {**_joined(parts, headers, scores), **lists, **judged, "status": status}
        _write_header(out, header)
        prom.write(out, header_of(header), scores)
    return Merged(scores, missing, status)


def _write_header(out: Path, header: dict[str, Any]) -> None:
    write_atomic(out / HEADER, orjson.dumps(to_tree(header), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def _joined(parts: Sequence[Path], headers: Sequence[dict[str, Any]], scores: Sequence[Score]) -> dict[str, Any]:
    """One header for the whole. What has no meaning for several processes together is null and stands in `parts`."""
    counts = Counter(str(score.status) for score in scores)
    return {
        **headers[0],
        "arguments": [],
        "options": {**headers[0]["options"], "shard": [1, 1], "out": None, "workers": None},
        "shard": "1/1",
        "suites": list(dict.fromkeys(suite for header in headers for suite in header["suites"])),
        "unavailable": {name: text for header in headers for name, text in header["unavailable"].items()},
        "backends": {name: text for header in headers for name, text in header["backends"].items()},
        "started": min(header["started"] for header in headers),
        "ended": max(header["ended"] for header in headers),
        "counts": {str(status): counts[str(status)] for status in Status},
        "telemetry": None,
        "parts": _summaries(parts, headers),
    }


def _join_ledgers(parts: Sequence[Path], out: Path) -> Mapping[str, Any] | None:
    """One chain of all that judges said to the parts, in the order in which they were named; its length and end."""
    ledgers = [part / LEDGER for part in parts if (part / LEDGER).exists()]
    if not ledgers:
        return None
    (out / LEDGER).unlink(missing_ok=True)
    join(ledgers, out / LEDGER)
    with Ledger(out / LEDGER, writable=False) as whole:
        return {"records": whole.count, "head": whole.head}


def _judge(headers: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """What the parts found out about their judges: one part may have needed fewer of them than another."""
    told = [header["judge"] for header in headers if header["judge"]]
    common: dict[str, Any] = next((one for one in told if set(one) - {"reserved"}), {})
    reserved = {model: verdict for one in reversed(told) for model, verdict in one.get("reserved", {}).items()}
    return {**common, **({"reserved": reserved} if reserved else {})} or None


def _calls(headers: Sequence[dict[str, Any]], ledger: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Calls of all parts, counted together; the ledger is the joined one (None where all of them were replays)."""
    told = [header["judge_calls"] for header in headers if header["judge_calls"]]
    counts: Counter[str] = Counter()
    for one in told:
        counts.update({name: count for name, count in one.items() if name != "ledger"})
    return {**dict(sorted(counts.items())), "ledger": ledger} if told else None


def _header(part: Path, manifest: Manifest) -> dict[str, Any]:
    header = read_header(part)
    if header is None:
        raise UsageError(f"{part}: no {HEADER} there; name the --out folders of the shards")
    for name in REQUIRED:  # whatever is missing is said before anything is written
        header[name]
    if header["manifest"]["sha256"] != manifest.digest:
        raise UsageError(f"{part}: scored another manifest ({header['manifest']['path']}) than {manifest.path}")
    if header["status"] not in {RunStatus.SUCCESS, RunStatus.PARTIAL}:
        raise UsageError(f"{part}: its run is {header['status']}, not finished; run that shard again, it resumes")
    if header["ended"] is None:
        raise UsageError(f"{part / HEADER}: ended: expected a time, found null; {ANEW}")
    return header


def _agree(first: Path, ours: dict[str, Any], part: Path, theirs: dict[str, Any]) -> None:
    chosen = [(f"--{name}", ours["options"][name], theirs["options"][name]) for name in SAME_CHOICE]
    for field, one, other in [*((name, ours[name], theirs[name]) for name in MUST_AGREE), *chosen]:
        if one != other:
            raise UsageError(f"{first} and {part}: {field} differs ({one!r} against {other!r})")


def _listed(name: str, parts: Sequence[Path], headers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every entry of a list of all headers, once. Raises UsageError if two parts mean different things by one id."""
    found: dict[str, dict[str, Any]] = {}
    for part, header in zip(parts, headers, strict=True):
        for entry in header[name]:
            if found.setdefault(entry["id"], entry) != entry:
                raise UsageError(f"{part}: {name} differ for {entry['id']} ({entry!r} against {found[entry['id']]!r})")
    return list(found.values())


def _union(parts: Sequence[Path]) -> dict[Key, Record]:
    """All records. A record that two parts hold must be equal in both."""
    found: dict[Key, Record] = {}
    for part in parts:
        for key, record in read_records(part / SCORES).items():
            if found.setdefault(key, record) != record:
                raise UsageError(f"{part}: its record of {key[0]} / {key[1]} differs from another part's")
    return found


def _of_one_suite(manifest: Manifest, found: Mapping[Key, Record]) -> None:
    """Raise UsageError for a record that says another suite than its case, for no table would have it."""
    suites = {case.id: case.suite for case in manifest.cases}
    for (case, metric), record in found.items():
        if (wrong := record.score.suite) != suites.get(case, wrong):
            found_there = f"suite: expected {suites[case]!r}, found {wrong!r}"
            raise UsageError(f"{SCORES}: {case} / {metric}: {found_there}; run that shard again with --fresh")


def _order(manifest: Manifest, options: Mapping[str, Any]) -> list[Key]:
    """Every (case, metric) that the parts were asked for, in the order of the manifest."""
    suites = options["suites"]
    cases = [case for case in manifest.cases if not suites or case.suite in suites]
    return [
        (case.id, metric.id)
        for case in cases
        for metric in chosen_metrics(case, options["metrics"], options["profile"])
    ]


def _status(scores: Sequence[Score], missing: Sequence[Key]) -> RunStatus:
    whole = not missing and not any(score.status is Status.FAILED for score in scores)
    return RunStatus.SUCCESS if whole else RunStatus.PARTIAL


def _summaries(parts: Sequence[Path], headers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = ("shard", "status", "started", "ended", "counts", "telemetry", "machine")
    return [
        {"folder": part, **{name: header[name] for name in kept}} for part, header in zip(parts, headers, strict=True)
    ]
