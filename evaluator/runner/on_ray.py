"""The same run on several workers, each a process of its own, here or on other machines: actors of Ray.

The driver plans, hands out cases, and alone writes. Cases that share a source go to one worker together, one such group
at a time. A worker that dies takes with it what it had not told yet: those cases go to others, each by itself, and one
that has cost TRIES workers is recorded as failed.

Without an address, Ray is started for the run on this machine: on loopback, behind a token, without a dashboard and
without reports to its makers; it ends with the run. Knows no model and no metric; nothing else knows Ray.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import math
import os
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from typing import Any

from evaluator.errors import PrerequisiteError
from evaluator.runner import header
from evaluator.runner.engine import Work
from evaluator.runner.options import RunOptions
from evaluator.runner.outcome import Absent, score
from evaluator.runner.plan import by_source
from evaluator.runner.run import Plan
from evaluator.runner.telemetry import Telemetry
from evaluator.runner.worker import Asked, Made, Told, Worker, facts
from evaluator.schema import Case, Reason, Score, Status, decode_score

TRIES = 3
"""Workers that one case may cost. Also how many in a row may die before they begin, which ends the run."""

PATIENCE = 15.0
"""Seconds after which it is said that workers have not begun: a process needs a few to start."""

ALONE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # in spite of its name: every port on loopback, on Linux too
    "RAY_AUTH_MODE": "token",  # loopback is open to all accounts of a machine, and who may talk to Ray may run code
    "RAY_prestart_worker_first_driver": "0",
    "RAY_enable_worker_prestart": "0",
}
"""Environment of a Ray of our own, which reads it when it is imported and in every process that it starts."""

NO_WEB = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1,localhost"}
"""Environment of its processes: one of them asks which cloud it is in, even where nothing is reported to anybody. With
this it asks a port of this machine where nobody answers."""

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "ORT_DISABLE_TELEMETRY": "1"}
"""Environment of a worker, as `evaluator.__main__` sets it: a sum must not depend on how many cores there are."""

OBJECT_STORE = 80 * 2**20
"""Bytes of shared memory, about the least that Ray takes: what travels here is cases and records, never pictures."""


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that one worker gets together, and how many workers they have cost."""

    work: tuple[Work, ...]
    lost: int = 0


def groups(work: Sequence[Work]) -> list[Group]:
    """Whole source groups, in the order of the plan."""
    by_id = {item.case: item for item in work}
    return [Group(tuple(by_id[case.id] for case in group)) for group in by_source([_case(item) for item in work])]


class RayEngine:
    """Runs the jobs of a plan as `Engine` does, on actors of class `kind`."""

    def __init__(self, plan: Plan, options: RunOptions, telemetry: Telemetry, kind: type[Worker] = Worker) -> None:
        self._plan = plan
        self._options = options
        self._telemetry = telemetry
        self._kind = kind
        self._gpu = plan.equipment.device == "gpu"

    def run(self, work: Sequence[Work], workers: int, deliver: Callable[[Work, list[Score]], None]) -> None:
        """Score all work on at most `workers` actors (0: as many as fit). `deliver` is called once per case.

        Raises PrerequisiteError if Ray cannot be started or joined, or if a worker would not make the same records.
        """
        if not work:
            return
        with cluster(self._options.ray_address, workers or header.cores(), self._gpu) as ray:
            room = int(ray.cluster_resources().get("GPU" if self._gpu else "CPU", 0))
            if not room:
                raise PrerequisiteError(f"--engine ray: there is no {'GPU' if self._gpu else 'CPU'} for a worker")
            _Crew(ray, self._hiring(ray), deliver, self).run(groups(work), min(workers or room, room))

    def _hiring(self, ray: Any) -> Callable[[], Any]:
        """How to get one more worker, with a core or a whole GPU. Ray itself starts no dead one again."""
        share = {"num_gpus": 1} if self._gpu else {"num_cpus": 1}
        actor = ray.remote(max_restarts=0, runtime_env={"env_vars": ONE_THREAD}, **share)(self._kind)
        mounted, expected = self._plan.store.mounted, facts(self._plan.store, self._plan.equipment)
        models = mounted and mounted.absolute()  # a Ray that was started before has a folder of its own to be in

        def hire() -> Any:
            self._telemetry.count("workers_started")
            return actor.remote(self._options, models, expected)

        return hire

    def account(self, told: Told) -> None:
        """What a worker told, into the books of the run."""
        self._telemetry.add(told.counters, told.seconds, told.traffic)
        for event, level, fields in told.events:
            self._telemetry.event(event, level, **fields)
        self._plan.elsewhere.update(told.backends)
        known = self._plan.equipment.fallbacks
        self._plan.equipment.steps_down.extend(one for one in told.fallbacks if one not in known)

    def lost(self, cases: Sequence[str], why: str) -> None:
        """A worker died over these cases."""
        self._telemetry.count("workers_lost")
        self._telemetry.event("worker_lost", "warning", cases=cases, message=why)

    def waiting(self, begun: int, hired: int) -> None:
        """Workers have not begun for a while: on a cluster that others use, the run goes on with those that have."""
        what = "GPUs" if self._gpu else "cores"
        self._telemetry.event("workers_wait", "warning", begun=begun, hired=hired)
        if not self._options.quiet:
            told = f"{begun} of {hired} workers have begun; the others wait for free {what} (`ray status` tells whose)"
            print(f"--engine ray: {told}", file=sys.stderr, flush=True)

    def failed(self, item: Work, reason: Reason) -> list[Score]:
        """The records of a case that no worker scored."""
        return [score(job, Absent(Status.FAILED, reason), self._plan.planner.profile) for job in item.jobs]


@dataclass(slots=True)
class _Turn:
    """What one worker is at: its beginning, or a group."""

    actor: Any
    machine: str = ""
    begun: bool = False
    left: dict[str, Work] = field(default_factory=dict)  # by case
    lost: int = 0  # workers that these cases have cost before


@dataclass(slots=True)
class _Crew:
    """The workers while a run lasts, each at one group: hires, hands out, listens, and hires again."""

    ray: Any
    hire: Callable[[], Any]
    deliver: Callable[[Work, list[Score]], None]
    engine: RayEngine
    todo: deque[Group] = field(default_factory=deque)
    turns: dict[Any, _Turn] = field(default_factory=dict)  # by the stream in which the worker tells
    unborn: int = 0  # workers in a row that died before they had begun
    patience: float = PATIENCE  # seconds; infinite once something was said

    def run(self, todo: Sequence[Group], workers: int) -> None:
        self.todo.extend(todo)
        start = time.monotonic()
        for _ in range(min(workers, len(todo))):
            self._begin()
        while self.todo or any(turn.begun for turn in self.turns.values()):  # who has not begun is not waited for
            for stream in self.ray.wait(list(self.turns), timeout=PATIENCE)[0]:
                self._hear(stream)
            if time.monotonic() - start > self.patience:
                self._tell_who_waits()

    def _tell_who_waits(self) -> None:
        """Say once how many have not begun, if any."""
        begun = [bool(turn.machine) for turn in self.turns.values()]
        if not all(begun):
            self.engine.waiting(sum(begun), len(begun))
        self.patience = math.inf

    def _begin(self) -> None:
        actor = self.hire()
        self.turns[actor.begin.options(num_returns="streaming").remote()] = _Turn(actor)

    def _give(self, actor: Any, machine: str) -> None:
        """The next group to a worker; where there is none, it may go."""
        if not self.todo:
            self.ray.kill(actor)
            return
        group = self.todo.popleft()
        jobs = [job for item in group.work for job in item.jobs]
        asked = {job.key: Asked(job.fingerprint, job.models, job.media) for job in jobs}
        stream = actor.score.options(num_returns="streaming").remote([_case(item) for item in group.work], asked)
        left = {item.case: item for item in group.work}
        self.turns[stream] = _Turn(actor, machine, True, left, group.lost)

    def _hear(self, stream: Any) -> None:
        """One piece of news from a worker: an item, the end of its turn, a refusal, or its death."""
        turn = self.turns[stream]
        try:
            self._take(turn, self.ray.get(next(stream)))
        except StopIteration:
            del self.turns[stream]
            self.unborn = 0
            self._give(turn.actor, turn.machine)
        except self.ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, PrerequisiteError):
                raise PrerequisiteError(f"--engine ray: on {turn.machine}: {error.cause}") from error
            raise
        except self.ray.exceptions.RayError as error:
            del self.turns[stream]
            self._bury(turn, str(error))
            if self.todo:
                self._begin()

    def _take(self, turn: _Turn, item: str | Made | Told) -> None:
        if isinstance(item, str):
            turn.machine = item
        elif isinstance(item, Told):
            self.engine.account(item)
        else:
            case, made = item
            work = turn.left.pop(case)
            self.deliver(work, self.engine.failed(work, made) if isinstance(made, Reason) else _scores(made))

    def _bury(self, turn: _Turn, why: str) -> None:
        """What a dead worker has left goes to others, case by case: one of them may be what killed it."""
        self.engine.lost(list(turn.left), why)
        self.unborn += not turn.begun
        if self.unborn == TRIES:
            raise PrerequisiteError(f"--engine ray: {TRIES} workers in a row died before they had begun: {why}")
        for item in turn.left.values():
            if turn.lost + 1 < TRIES:
                self.todo.append(Group((item,), turn.lost + 1))
            else:
                told = f"{TRIES} workers died while they had this case, for want of memory perhaps: see log.jsonl"
                self.deliver(item, self.engine.failed(item, Reason("worker_lost", told)))


def _case(item: Work) -> Case:
    return item.jobs[0].case


def _scores(lines: bytes) -> list[Score]:
    return [decode_score(line) for line in lines.splitlines()]


# ------------------------------------------------------------------------------------------------- Ray itself


def installed() -> None:
    """Raises PrerequisiteError where Ray is not."""
    if importlib.util.find_spec("ray") is None:
        command = f"{sys.executable} -m pip install --require-hashes -r docker/requirements/ray.txt"
        raise PrerequisiteError(f"--engine ray: Ray is not installed here; install it with: {command}")


@contextmanager
def cluster(address: str | None, workers: int, gpu: bool) -> Iterator[Any]:
    """Ray, connected to the cluster at `address`, or to one of our own with room for `workers` while this lasts.

    Meanwhile stdout is stderr: Ray prints what happens to its processes there, and stdout belongs to `--json`. Raises
    PrerequisiteError if Ray is not installed, cannot be started or cannot be joined.
    """
    installed()
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(sys.stderr))
        if address is None:
            folder = stack.enter_context(TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True))
            yield stack.enter_context(_alone(folder, workers, gpu))
        else:
            _knock(address)
            yield stack.enter_context(_connected(f"the cluster at {address} cannot be joined", {}, address=address))


@contextmanager
def _alone(folder: str, workers: int, gpu: bool) -> Iterator[Any]:
    """A Ray of our own. Its files are not in the cache: a path to a socket has at most 107 bytes.

    Ray lets all accounts write to the folder that it is given, its sockets' too: it gets one inside of `folder`, which
    is closed to them.

    Where this process is killed, its workers end with it, and two idle agents of Ray notice within a minute: so do
    the workers where an orphan's new parent is not process 1.
    """
    os.environ.update(ALONE)
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
    with _connected(
        "it cannot be started here; if a path is too long, set TMPDIR to a shorter one",
        NO_WEB,
        address="local",
        num_cpus=workers,
        num_gpus=None if gpu else 0,
        object_store_memory=OBJECT_STORE,
        include_dashboard=False,
        _temp_dir=os.path.join(folder, "r"),
    ) as ray:
        if (found := ray.util.get_node_ip_address()) != "127.0.0.1":
            raise PrerequisiteError(f"--engine ray: Ray listens on {found} and not on loopback; it was imported before")
        yield ray


@contextmanager
def _connected(otherwise: str, environment: Mapping[str, str], **settings: Any) -> Iterator[Any]:
    ray = importlib.import_module("ray")
    try:
        try:
            with _environment(environment):
                ray.init(log_to_driver=False, logging_level=logging.ERROR, **settings)
        except (ConnectionError, OSError, RuntimeError, ValueError) as error:
            raise PrerequisiteError(f"--engine ray: {otherwise} ({error})") from error
        yield ray
    finally:
        ray.shutdown()


def _knock(address: str) -> None:
    """Raises PrerequisiteError if nobody answers there, which Ray takes a quarter of an hour to find out."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()
    except (OSError, ValueError) as error:
        raise PrerequisiteError(f"--ray-address: expected HOST:PORT of a Ray, found {address} ({error})") from error


@contextmanager
def _environment(settings: Mapping[str, str]) -> Iterator[None]:
    """Variables for the processes that are started inside."""
    before = dict(os.environ)
    os.environ.update(settings)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
