"""The part of a run that is done in another process, here or on another machine: cases in, lines of records out.

A worker plans the cases that it is given by itself and scores them with an ordinary engine, but only where what it
would compute is what the driver planned: equal fingerprints, so the same bytes wherever a record is made. It opens
models once and writes nothing. Knows neither who calls it nor what carries the messages.
"""

from __future__ import annotations

import platform
import queue
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import evaluator
from evaluator.errors import PrerequisiteError
from evaluator.runner import header
from evaluator.runner.engine import Engine, Work
from evaluator.runner.equipment import Equipment, equipment
from evaluator.runner.experts import ExpertPool
from evaluator.runner.options import RunOptions
from evaluator.runner.plan import Job
from evaluator.runner.run import make_plan
from evaluator.runner.telemetry import Telemetry
from evaluator.runner.writer import Key
from evaluator.runtime.backends import Fallback
from evaluator.runtime.digests import sha256_file
from evaluator.runtime.store import Store
from evaluator.schema import Case, ModelRef, Reason, digest, encode


@dataclass(frozen=True, slots=True)
class Asked:
    """One record to be, as the driver planned it."""

    fingerprint: str
    models: tuple[ModelRef, ...]
    media: Mapping[str, str]  # role -> SHA-256


@dataclass(frozen=True, slots=True)
class Told:
    """What a worker has to tell about some cases when they are done, beside their records."""

    counters: Mapping[str, int]
    seconds: Mapping[str, float]
    traffic: Mapping[str, Mapping[str, int]]
    events: Sequence[tuple[str, str, Mapping[str, Any]]]
    backends: Mapping[str, str]
    fallbacks: Sequence[Fallback]


Made = tuple[str, bytes | Reason]
"""Case id, and the lines of its records or why there are none."""


def facts(store: Store, tools: Equipment) -> dict[str, str]:
    """What must be equal on all machines of a run. Models and clips are compared later, by fingerprint."""
    root = Path(evaluator.__file__).parent
    files = sorted(path for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    code = digest({str(path.relative_to(root)): sha256_file(path) for path in files})
    own = {"evaluator": evaluator.__version__, "the digest of its code": code, "the model lock": store.lock_sha256}
    return {**own, **header.packages(), **tools.identity}


class Worker:
    """Scores cases for a driver whose `facts` are `expected`; `models` is the folder that the user mounts."""

    def __init__(self, options: RunOptions, models: Path | None, expected: Mapping[str, str]) -> None:
        self._options = replace(options, quiet=True)
        self._models = models
        self._expected = expected
        self._opened: tuple[Store, Equipment, ExpertPool] | None = None

    def begin(self) -> Iterator[str]:
        """The name of this machine. Raises PrerequisiteError if it is not equipped as the driver's is."""
        yield platform.node()
        self._open()

    def score(self, cases: Sequence[Case], asked: Mapping[Key, Asked]) -> Iterator[Made | Told]:
        """Every case as it is done, then what there is to tell.

        Raises PrerequisiteError if a record made here would not be the one that was planned.
        """
        store, tools, pool = self._open()
        plan = make_plan(cases, store, self._options, tools=tools, pool=pool)
        work, foreign = agreed(plan.jobs, asked)
        telemetry = _Noted()
        engine = Engine(plan.planner, pool.by_id, plan.paths, telemetry, plan.stamps, tools)
        yield from _as_they_come(foreign, engine, work)
        yield telemetry.told(pool.backends(), tools.fallbacks)

    def _open(self) -> tuple[Store, Equipment, ExpertPool]:
        """Models and device of this machine, opened once."""
        if self._opened is None:
            import cv2

            cv2.setNumThreads(1)
            store, tools = Store.open(self._models), equipment(self._options.device)
            refuse_unless_equal(facts(store, tools), self._expected)
            self._opened = store, tools, ExpertPool(store, self._options.require_reference)
        return self._opened


def refuse_unless_equal(here: Mapping[str, str], there: Mapping[str, str]) -> None:
    """Raises PrerequisiteError that names everything that differs between this machine and the driver's."""
    wrong = [
        f"{name} is {here.get(name, 'absent')}, where the run was started {there.get(name, 'absent')}"
        for name in sorted({*here, *there})
        if here.get(name) != there.get(name)
    ]
    if wrong:
        raise PrerequisiteError("; ".join(wrong) + "; install the same on every machine")


def agreed(jobs: Sequence[Job], asked: Mapping[Key, Asked]) -> tuple[list[Work], list[Made]]:
    """(cases with the jobs that are asked for; cases of which a file is not the driver's).

    Raises PrerequisiteError for a record that would be made of the same files and of something else.
    """
    todo: dict[str, list[Job]] = {}
    foreign: dict[str, Reason] = {}
    for job in (job for job in jobs if job.key in asked):
        planned = asked[job.key]
        if other := [role for role, sha256 in planned.media.items() if job.media[role] != sha256]:
            message = f"the {other[0]} file is another one, or none, on a worker's machine; copy it there, run again"
            foreign[job.case.id] = Reason("media_differs", message)
        elif job.fingerprint != planned.fingerprint:
            raise PrerequisiteError(_difference(job, planned))
        else:
            todo.setdefault(job.case.id, []).append(job)
    return [Work(case, tuple(own)) for case, own in todo.items()], list(foreign.items())


def _difference(job: Job, planned: Asked) -> str:
    """Why the fingerprints of one record differ, in words."""
    if job.models == planned.models:
        return f"{job.metric.id} would be computed with other options than where the run was started"
    here, there = (
        ", ".join(f"{one.id} ({one.sha256[:12]})" for one in models) or "no model"
        for models in (job.models, planned.models)
    )
    return f"{job.metric.id} would come from {here}, where the run was started from {there}; mount the same models"


def _as_they_come(first: Sequence[Made], engine: Engine, work: Sequence[Work]) -> Iterator[Made]:
    """`first`, then the cases of an engine's run, each when it is done."""
    ready: queue.SimpleQueue[Made | None] = queue.SimpleQueue()
    for made in first:
        ready.put(made)
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(
            engine.run, work, 1, lambda item, scores: ready.put((item.case, b"".join(map(encode, scores))))
        )
        running.add_done_callback(lambda _: ready.put(None))
        while (item := ready.get()) is not None:
            yield item
        running.result()


class _Noted(Telemetry):
    """Keeps its events for the driver's log."""

    def __init__(self) -> None:
        super().__init__()
        self._events: list[tuple[str, str, Mapping[str, Any]]] = []

    def event(self, event: str, level: str = "info", **fields: Any) -> None:
        self._events.append((event, level, fields))

    def told(self, backends: Mapping[str, str], fallbacks: Sequence[Fallback]) -> Told:
        """Everything so far, as it travels."""
        traffic = self.traffic.facts()
        return Told(dict(self.counters), dict(self.seconds), traffic, tuple(self._events), backends, tuple(fallbacks))
