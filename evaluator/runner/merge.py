"""Joins the output folders of shards: the same bytes as one run over the whole manifest.

Runs no metric. Refuses folders that do not belong together, and says what differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import UsageError
from evaluator.judge.join import join
from evaluator.manifest import Manifest
from evaluator.runner.header import HEADER, RunStatus, read_header
from evaluator.runner.judging import LEDGER
from evaluator.runner.run import chosen_metrics
from evaluator.runner.writer import SCORES, Key, Record, locked, read_records, write_atomic, write_in_order
from evaluator.schema import Score, Status

MUST_AGREE = ("schema", "evaluator", "profile", "lock_sha256", "packages", "device")
"""Header fields in which two parts of one run may not differ."""

JOINED = ("metrics", "models")
"""Header fields that list what a part used, by id: parts may use different ones, but not the same id differently."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The joined records in manifest order, and the cases that no part holds."""

    scores: tuple[Score, ...]
    missing: tuple[str, ...]
    status: RunStatus


def merge(manifest: Manifest, parts: Sequence[Path], out: Path) -> Merged:
    """Join `parts` into `out`. Raises UsageError if a part is not a finished run of this manifest or parts disagree."""
    headers = [_header(part, manifest) for part in parts]
    for part, header in zip(parts[1:], headers[1:], strict=True):
        _agree(parts[0], headers[0], part, header)
    found = _union(parts)
    with locked(out):
        order = _order(manifest, {key[1] for key in found})
        write_in_order(out / SCORES, order, found)
        _join_ledgers(parts, out)
        scores = tuple(found[key].score for key in order if key in found)
        present = {score.case for score in scores}
        missing = tuple(case.id for case in manifest.cases if case.id not in present)
        status = _status(scores, missing)
        lists = {name: _joined(name, parts, headers) for name in JOINED}
        whole = {"status": status, "shard": "1/1", "arguments": [], "parts": _summaries(parts, headers)}
        joined = {**headers[0], **lists, **whole}
        write_atomic(out / HEADER, orjson.dumps(joined, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return Merged(scores, missing, status)


def _join_ledgers(parts: Sequence[Path], out: Path) -> None:
    """One chain of all that the judge said to the parts, in the order in which they were named."""
    ledgers = [part / LEDGER for part in parts if (part / LEDGER).exists()]
    if ledgers:
        (out / LEDGER).unlink(missing_ok=True)
        join(ledgers, out / LEDGER)


def _header(part: Path, manifest: Manifest) -> dict[str, Any]:
    header = read_header(part)
    if header is None:
        raise UsageError(f"{part}: no {HEADER} there; name the --out folders of the shards")
    if header["manifest"]["sha256"] != manifest.digest:
        raise UsageError(f"{part}: scored another manifest ({header['manifest']['path']}) than {manifest.path}")
    if header["status"] not in {RunStatus.SUCCESS, RunStatus.PARTIAL}:
        raise UsageError(f"{part}: its run is {header['status']}, not finished; run that shard again, it resumes")
    return header


def _agree(first: Path, ours: dict[str, Any], part: Path, theirs: dict[str, Any]) -> None:
    for field in MUST_AGREE:
        if ours[field] != theirs[field]:
            raise UsageError(f"{first} and {part}: {field} differs ({ours[field]!r} against {theirs[field]!r})")


def _joined(name: str, parts: Sequence[Path], headers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
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


def _order(manifest: Manifest, metrics: set[str]) -> list[Key]:
    return [
        (case.id, metric.id) for case in manifest.cases for metric in chosen_metrics(case, ()) if metric.id in metrics
    ]


def _status(scores: Sequence[Score], missing: Sequence[str]) -> RunStatus:
    whole = not missing and not any(score.status is Status.FAILED for score in scores)
    return RunStatus.SUCCESS if whole else RunStatus.PARTIAL


def _summaries(parts: Sequence[Path], headers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = ("shard", "status", "started", "ended", "counts", "telemetry", "machine")
    return [
        {"folder": str(part), **{name: header[name] for name in kept}}
        for part, header in zip(parts, headers, strict=True)
    ]
