"""Which outputs answer the same task, and which of them are not independent: facts of the manifest behind a run.

Records name a case and a system only; what the system was given stands in the manifest. It is read again if it still
has the digest that run.json states, or if the user names one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.manifest.reading import lines, parse
from evaluator.report.runs import Run
from evaluator.schema import digest

GIVEN = ("source", "prompt", "references", "shots")
"""Fields of a manifest line that say what a system was asked for. Two lines of one suite that agree in all of them are
the same task; id, video, system, category, labels and notes describe the output and may differ."""


@dataclass(frozen=True, slots=True)
class Task:
    """What one case was about."""

    key: str  # digest of suite and GIVEN; empty if the line states none of them
    origin: str  # outputs with the same origin are not independent: the source clip, else the prompt, else the case


def find_tasks(runs: Iterable[Run], manifest: Path | None) -> dict[str, Task]:
    """Case id -> task, from `manifest` or else from the manifests that the runs name and that did not change since.

    Cases whose manifest cannot be found are left out. The first run that knows a case decides.
    """
    if manifest is not None:
        return read_tasks(manifest.read_bytes(), str(manifest))
    found: dict[str, Task] = {}
    for run in runs:
        for case, task in _recorded(run).items():
            found.setdefault(case, task)
    return found


def _recorded(run: Run) -> Mapping[str, Task]:
    path = Path(run.header["manifest"]["path"])
    data = path.read_bytes() if path.is_file() else b""
    if hashlib.sha256(data).hexdigest() != run.header["manifest"]["sha256"]:
        return {}  # moved or edited since: what it says now is not what was scored
    return read_tasks(data, str(path))


def read_tasks(data: bytes, name: str) -> dict[str, Task]:
    """The tasks of a manifest's bytes. UsageError for a line that is not a JSON object with an id."""
    found: dict[str, Task] = {}
    for number, line in lines(data):
        tree = parse(number, line)
        if not isinstance(tree, dict):
            raise UsageError(tree.shown(name))
        if not isinstance(tree.get("id"), str):
            raise UsageError(f"{name}:{number}: id: expected text, found {tree.get('id')!r}")
        found[tree["id"]] = _task(tree)
    return found


def _task(line: Mapping[str, Any]) -> Task:
    given = {field: line[field] for field in GIVEN if line.get(field)}
    key = digest({"suite": line.get("suite"), **given}) if given else ""
    return Task(key, str(given.get("source") or given.get("prompt") or line["id"]))
