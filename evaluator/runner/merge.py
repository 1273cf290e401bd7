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
from evaluator.manifest import Manifest
from evaluator.runner.header import HEADER, RunStatus, read_header
from evaluator.runner.run import chosen_metrics
from evaluator.runner.writer import SCORES, Key, locked, read_scores, write_atomic, write_in_order
from evaluator.schema import Score, Status

MUST_AGREE = ("schema", "evaluator", "profile", "lock_sha256", "models", "packages", "device")
"""Header fields in which two parts of one run may not differ."""


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
        scores = tuple(found[key] for key in order if key in found)
        missing = tuple(case.id for case in manifest.cases if not any(score.case == case.id for score in scores))
        status = _status(scores, missing)
        joined = {**headers[0], "status": status, "shard": "1/1", "arguments": [], "parts": _summaries(parts, headers)}
        write_atomic(out / HEADER, orjson.dumps(joined, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return Merged(scores, missing, status)


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


def _union(parts: Sequence[Path]) -> dict[Key, Score]:
    """All records. A record that two parts hold must be equal in both."""
    found: dict[Key, Score] = {}
    for part in parts:
        for key, score in read_scores(part / SCORES).items():
            if found.setdefault(key, score) != score:
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
