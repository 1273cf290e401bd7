"""Runs the jobs: cases on worker threads, every file decoded once, features kept until their last user is done.

Worker threads, not kernels, use the cores: decoding, resizing and inference all release the interpreter lock, and each
of them runs single-threaded so that a sum does not depend on how many cores there are.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.experts.base import Expert
from evaluator.metrics.base import Outcome
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.graph import Graph, Missing, Node
from evaluator.runner.media_unit import MediaUnit, Values, hosted
from evaluator.runner.outcome import Absent, Heard, compute, judge, score, skipped
from evaluator.runner.plan import Job, Planner
from evaluator.runner.telemetry import Telemetry
from evaluator.runtime.digests import Stamp, stamp
from evaluator.schema import Reason, Score, Status


@dataclass(frozen=True, slots=True)
class Work:
    """One case with the jobs that are still to do."""

    case: str
    jobs: tuple[Job, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """Digests of the files that its jobs look at, the shared ones first: others may be waiting for them."""
        named = {role: digest for job in self.jobs for role, digest in job.media.items()}
        return tuple(dict.fromkeys(named[role] for role in sorted(named, key=lambda role: role == "video")))


class Shelf:
    """Values of media files: computed by the first worker that asks, awaited by others, dropped after the last user."""

    def __init__(self, users: Mapping[str, Sequence[Work]], make: Callable[[str], Values]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._futures: dict[str, Future[Values]] = {}
        self._users = {file: len(work) for file, work in users.items()}

    def fetch(self, files: Sequence[str]) -> Values:
        """Values of several files. What nobody computes yet is computed here; then the rest is awaited."""
        for file in files:
            future, mine = self._claim(file)
            if mine:
                self._fill(file, future)
        values: Values = {}
        for file in files:
            values.update(self._futures[file].result())
        return values

    def release(self, files: Iterable[str]) -> None:
        """One user of these files is done."""
        with self._lock:
            for file in files:
                self._users[file] -= 1
                if not self._users[file]:
                    self._futures.pop(file, None)

    def _claim(self, file: str) -> tuple[Future[Values], bool]:
        with self._lock:
            mine = file not in self._futures
            return self._futures.setdefault(file, Future()), mine

    def _fill(self, file: str, future: Future[Values]) -> None:
        try:
            future.set_result(self._make(file))
        except BaseException as error:
            future.set_exception(error)
            raise


class Engine:
    """Scores cases. `paths` names one file for every digest, `stamps` what that file was like when it was hashed."""

    def __init__(
        self,
        planner: Planner,
        by_id: Callable[[str], Expert],
        paths: Mapping[str, Path],
        telemetry: Telemetry,
        stamps: Mapping[str, Stamp] | None = None,
        equipment: Equipment = CPU,
    ) -> None:
        self._stamps = stamps or {}
        self._planner = planner
        self._graph: Graph = planner.graph
        self._paths = paths
        self._equipment = equipment
        self._unit = MediaUnit(planner.graph, by_id, telemetry, equipment)
        self._telemetry = telemetry
        self._stop = threading.Event()

    def stop(self) -> None:
        """Take no new case; what is in flight is finished."""
        self._stop.set()

    def run(self, work: Sequence[Work], workers: int, deliver: Callable[[Work, list[Score]], None]) -> None:
        """Score all work. `deliver` is called once per case, from any worker. The first unexpected error is raised."""
        users: dict[str, list[Work]] = {}
        for item in work:
            for file in item.files:
                users.setdefault(file, []).append(item)
        shelf = Shelf(users, lambda file: self._make(file, users[file]))
        todo: queue.SimpleQueue[Work] = queue.SimpleQueue()
        for item in work:
            todo.put(item)
        errors: list[BaseException] = []
        ended = [threading.Event() for _ in range(min(workers, len(work)))]
        for end in ended:
            threading.Thread(target=self._worker, args=(todo, shelf, deliver, errors, end), daemon=True).start()
        self._wait(ended)
        if errors:
            raise errors[0]

    def _wait(self, ended: Sequence[threading.Event]) -> None:
        """Wait for the workers; on an interrupt let them finish their case, then pass it on.

        Events, because CPython 3.11 takes a thread for finished once a join on it was interrupted.
        """
        try:
            for end in ended:
                end.wait()
        except KeyboardInterrupt:
            self.stop()
            for end in ended:
                end.wait()
            raise

    def _worker(
        self,
        todo: queue.SimpleQueue[Work],
        shelf: Shelf,
        deliver: Callable[[Work, list[Score]], None],
        errors: list[BaseException],
        end: threading.Event,
    ) -> None:
        try:
            with self._equipment.ordered():
                while not self._stop.is_set() and (item := _next(todo)):
                    deliver(item, self._case(item, shelf.fetch(item.files)))
                    shelf.release(item.files)
        except BaseException as error:  # handed to the thread that called run()
            errors.append(error)
            self.stop()
        finally:
            end.set()

    def _make(self, file: str, users: Iterable[Work]) -> Values:
        """Everything about one file that outlives its decoding: what metrics and pair experts will read."""
        nodes, kept = self._wanted(file, users)
        values = self._unit.compute(self._paths[file], nodes, self._resident(users))
        if self._changed(file):
            changed = Absent(
                Status.FAILED, Reason("changed_during_run", f"{self._paths[file].name} changed; run again")
            )
            values = dict.fromkeys(nodes, changed)
        self._log_absent(file, values)
        return {node: values[node] for node in kept}

    def _changed(self, file: str) -> bool:
        """Whether a file is not the one any more whose digest was taken: its numbers would be under a wrong name."""
        planned = self._stamps.get(file)
        return planned is not None and planned != stamp(self._paths[file])

    def _wanted(self, file: str, users: Iterable[Work]) -> tuple[list[Node], list[Node]]:
        """(nodes that look at this file alone, inputs before users; those that a metric or a pair expert reads)."""
        wanted: dict[Node, None] = {}
        kept: dict[Node, None] = {}
        for item in users:
            for node in self._nodes(item):
                below = self._graph.closure(node)
                wanted.update((one, None) for one in below if one.files == {file})
                pairs = [one for one in below if len(one.files) > 1]
                reads = [node, *(child for pair in pairs for child in self._graph.inputs(pair).values())]
                kept.update((one, None) for one in reads if isinstance(one, Node) and one.files == {file})
        return list(wanted), list(kept)

    def _resident(self, users: Iterable[Work]) -> set[Node]:
        """Views that some expert takes in device memory; nothing is asked where there is no device."""
        if self._equipment.device == CPU.device:
            return set()
        nodes = (node for item in users for node in self._nodes(item))
        return self._graph.resident(below for node in nodes for below in self._graph.closure(node))

    def _nodes(self, item: Work) -> Iterable[Node]:
        for job in item.jobs:
            yield from (node for node in self._planner.nodes(job).values() if isinstance(node, Node))

    def _case(self, item: Work, values: Values) -> list[Score]:
        """Run the pair experts, then the metrics."""
        scores = []
        heard: Heard = {}  # metrics of one case that put the same questions share the answers
        for job in item.jobs:
            with self._telemetry.stage(f"metric/{job.metric.id}"):
                inputs = {name: hosted(self._value(node, values)) for name, node in self._planner.nodes(job).items()}
                found = self._outcome(job, inputs, heard)
            if isinstance(found, Absent) and found.trace:
                self._telemetry.event("metric_error", "error", case=item.case, metric=job.metric.id, trace=found.trace)
            scores.append(score(job, found, self._planner.profile))
        return scores

    def _outcome(self, job: Job, inputs: Mapping[str, Any], heard: Heard) -> Outcome | Absent:
        bench = self._planner.bench
        return judge(job, inputs, bench, heard) if job.metric.judged and bench.judges else compute(job, inputs)

    def _value(self, node: Node | Missing, values: Values) -> Any:
        if isinstance(node, Missing):
            return skipped(node)
        for below in self._graph.closure(node):
            if below not in values and len(below.files) > 1:
                values[below] = self._unit.run(below, values)
        return values[node]

    def _log_absent(self, file: str, values: Values) -> None:
        for node, value in values.items():
            if isinstance(value, Absent) and value.trace:
                path = self._paths[file]
                self._telemetry.event("expert_error", "error", file=path, expert=node.expert, trace=value.trace)


def _next(todo: queue.SimpleQueue[Work]) -> Work | None:
    try:
        return todo.get_nowait()
    except queue.Empty:
        return None
