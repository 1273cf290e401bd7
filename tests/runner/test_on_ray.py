"""Scores do not depend on how many workers of Ray made them, nor on how many of those died."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evaluator.commands import load
from evaluator.errors import PrerequisiteError, UsageError
from evaluator.manifest import Manifest
from evaluator.runner import on_ray
from evaluator.runner.engine import Work
from evaluator.runner.judging import JudgeChoice
from evaluator.runner.on_ray import RayEngine, groups
from evaluator.runner.options import RunOptions
from evaluator.runner.run import RunResult, run
from evaluator.runner.telemetry import Telemetry
from evaluator.runner.worker import Worker
from evaluator.runtime.store import Store
from tests.conftest import ROOT
from tests.runner.mortal import Mortal
from tests.runner.test_worker import METRICS, manifest, options, planned
from tests.system.test_airgap import cannot, foreign_addresses
from tests.system.test_determinism import listen_to_interrupts

CASES = ("street/once", "street/b", "harbour/a", "harbour/fatal", "hill/a")

needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="Ray is not installed (docker/requirements/ray.txt)"
)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """One Ray for all tests of this module: starting it costs more than they do."""
    with on_ray.cluster(None, 2, gpu=False) as started:
        yield started


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    return load(manifest(tmp_path_factory.mktemp("cases"), CASES), None)


@pytest.fixture(scope="module")
def local(cases: Manifest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a run without Ray."""
    out = tmp_path_factory.mktemp("local")
    run(cases, Store.open(), options(out))
    return out


def score_on(
    ray: Any, cases: Manifest, out: Path, monkeypatch: pytest.MonkeyPatch, workers: int = 1, kind: type[Worker] = Worker
) -> RunResult:
    """A whole run whose workers are of this kind, on a Ray that is there already."""
    monkeypatch.setattr(on_ray, "cluster", lambda *_: nullcontext(ray))
    monkeypatch.setattr(on_ray, "RayEngine", partial(RayEngine, kind=kind))
    return run(cases, Store.open(), options(out, workers, "ray"))


def counters(out: Path) -> dict[str, int]:
    found: dict[str, int] = json.loads((out / "run.json").read_text())["telemetry"]["counters"]
    return found


@needs_ray
@pytest.mark.parametrize("workers", [1, 2])
def test_any_number_of_workers_writes_the_bytes_of_a_local_run(
    ray: Any, cases: Manifest, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    score_on(ray, cases, tmp_path, monkeypatch, workers)
    assert (tmp_path / "scores.jsonl").read_bytes() == (local / "scores.jsonl").read_bytes()
    assert counters(tmp_path) == {**counters(local), "workers_started": workers}


@needs_ray
def test_a_clip_that_kills_every_worker_fails_alone_and_a_later_run_mends_it(
    ray: Any, cases: Manifest, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two clips kill here: one over and over, one a single time, in the middle of its group."""
    found = score_on(ray, cases, tmp_path, monkeypatch, kind=Mortal)
    failed = {score.key: score.reason.code for score in found.scores if score.reason}
    assert failed == {("harbour/fatal", name): "worker_lost" for name in METRICS}
    whole = (local / "scores.jsonl").read_bytes().splitlines()
    told = (tmp_path / "scores.jsonl").read_bytes().splitlines()
    assert [line for line in told if b"/fatal" not in line] == [line for line in whole if b"/fatal" not in line]
    assert counters(tmp_path)["workers_lost"] == on_ray.TRIES + 1
    assert (tmp_path / "log.jsonl").read_text().count('"worker_lost"') == on_ray.TRIES + 1

    mended = score_on(ray, cases, tmp_path, monkeypatch)
    assert mended.reused == len(whole) - len(METRICS)
    assert (tmp_path / "scores.jsonl").read_bytes() == (local / "scores.jsonl").read_bytes()


@needs_ray
def test_a_ray_of_its_own_is_closed_to_other_accounts(ray: Any) -> None:
    """Ray opens its folder to all of them, and whoever replaces a socket in there is taken for Ray."""
    ours = (one for one in Path(tempfile.gettempdir()).glob("ray-*") if one.stat().st_uid == os.getuid())
    folders = [one for one in ours if (one / "r").is_dir()]
    assert folders
    assert {one.stat().st_mode & 0o077 for one in folders} == {0}


@needs_ray
def test_a_worker_with_other_software_ends_the_run_with_one_message(
    ray: Any, cases: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "facts", lambda *_: {"numpy": "1.0"})
    with pytest.raises(PrerequisiteError, match=r"on \S+: .*numpy is .*, where the run was started 1\.0"):
        score_on(ray, cases, tmp_path, monkeypatch)


@needs_ray
def test_a_finished_run_starts_nothing(
    cases: Manifest, local: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_ray, "cluster", lambda *_: pytest.fail("Ray was started for nothing"))
    out = shutil.copytree(local, tmp_path / "out")
    found = run(cases, Store.open(), options(out, engine="ray"))
    assert found.reused == len(found.scores) == len(CASES) * len(METRICS)


class Crowded(SimpleNamespace):
    """A cluster in whose place for one worker others sit: of its streams, only the first worker's have news."""

    exceptions = SimpleNamespace(RayError=RuntimeError, RayTaskError=KeyError)
    hired = 0

    def hire(self) -> Any:
        self.hired += 1
        news = self.hired == 1
        begin = SimpleNamespace(remote=lambda: Stream(["here"], news))
        score = SimpleNamespace(remote=lambda cases, _: Stream([(case.id, b"") for case in cases], news))
        calls = {"begin": begin, "score": score}
        options = {name: SimpleNamespace(options=lambda call=call, **_: call) for name, call in calls.items()}
        return SimpleNamespace(**options)

    def wait(self, streams: list[Stream], timeout: float) -> tuple[list[Stream], list[Stream]]:
        ready = [stream for stream in streams if stream.news]
        assert ready, "the run waits for a worker for whom nothing is left to do"
        return ready[:1], []

    def get(self, item: Any) -> Any:
        return item

    def kill(self, actor: Any) -> None:
        """Nothing is there to be killed."""


class Stream:
    def __init__(self, items: list[Any], news: bool) -> None:
        self._items = iter(items)
        self.news = news

    def __next__(self) -> Any:
        return next(self._items)


def test_a_run_ends_with_its_last_case_though_a_worker_could_not_begin(cases: Manifest, tmp_path: Path) -> None:
    plan, _ = planned(list(cases.cases), Store.open(), tmp_path)
    work = [Work(one.id, tuple(job for job in plan.jobs if job.case.id == one.id)) for one in cases.cases]
    ray, done = Crowded(), []
    crew = on_ray._Crew(ray, ray.hire, lambda item, _: done.append(item.case), None)  # type: ignore[arg-type]
    crew.run(groups(work), 2)
    assert (done, ray.hired) == (list(CASES), 2)


def test_workers_that_find_no_room_are_spoken_of_once(
    cases: Manifest, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, _ = planned(list(cases.cases), Store.open(), tmp_path)
    work = [Work(one.id, tuple(job for job in plan.jobs if job.case.id == one.id)) for one in cases.cases]
    monkeypatch.setattr(Telemetry, "event", lambda _, *event, **fields: told.append((*event, fields)))
    ray, told = Crowded(), []
    for quiet, patience in ((False, -1.0), (True, -1.0), (False, 3600.0)):
        chosen = replace(options(tmp_path / "out", engine="ray"), quiet=quiet)
        engine = RayEngine(plan, chosen, Telemetry())
        ray.hired = 0
        crew = on_ray._Crew(ray, ray.hire, lambda *_: None, engine, patience=patience)
        crew.run(groups(work), 3)
    assert told == 2 * [("workers_wait", "warning", {"begun": 1, "hired": 3})]
    assert capsys.readouterr().err == (
        "--engine ray: 1 of 3 workers have begun; the others wait for free cores (`ray status` tells whose)\n"
    )


def test_groups_are_whole_source_groups_in_the_order_of_the_plan(cases: Manifest, tmp_path: Path) -> None:
    plan, _ = planned(list(cases.cases), Store.open(), tmp_path)
    work = [Work(one.id, tuple(job for job in plan.jobs if job.case.id == one.id)) for one in cases.cases]
    shuffled = [work[place] for place in (0, 2, 1, 4, 3)]
    assert [[item.case for item in group.work] for group in groups(shuffled)] == [
        ["street/once", "street/b"],
        ["harbour/a", "harbour/fatal"],
        ["hill/a"],
    ]


def test_choices_that_do_not_go_together_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--ray-address: only --engine ray"):
        RunOptions(tmp_path, 1, ray_address="10.0.0.1:6379")
    with pytest.raises(UsageError, match=r"--engine ray: judges are asked by one process.*--engine local"):
        RunOptions(tmp_path, 1, engine="ray", judge=JudgeChoice(url="http://127.0.0.1:8000"))


def test_where_ray_is_not_installed_the_command_to_install_it_is_told(
    cases: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(PrerequisiteError, match=r"pip install --require-hashes -r docker/requirements/ray\.txt"):
        run(cases, Store.open(), options(tmp_path / "out", engine="ray"))
    assert not (tmp_path / "out").exists()


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:9", "somewhere", "ray://127.0.0.1:9"])
def test_an_address_where_no_ray_is_is_told_at_once(address: str) -> None:
    with (
        pytest.raises(PrerequisiteError, match=rf"expected HOST:PORT of a Ray, found {address} \("),
        on_ray.cluster(address, 1, gpu=False),
    ):
        pytest.fail("nobody answers there")


# ------------------------------------------------------------------------------------------------- whole processes


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for the temporary files of a run; short, for Ray's sockets lie in it."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Manifest, bytes]:
    """Enough cases to be stopped among them, and their scores."""
    folder = tmp_path_factory.mktemp("many")
    whole = load(manifest(folder, tuple(f"place{number}/a" for number in range(30))), None)
    run(whole, Store.open(), options(folder / "out"))
    return whole, (folder / "out" / "scores.jsonl").read_bytes()


def command(cases: Manifest, out: Path, *more: str) -> list[str]:
    chosen = ["--manifest", str(cases.path), "--metrics", ",".join(METRICS), "--out", str(out), "--no-report"]
    return [sys.executable, "-m", "evaluator", *chosen, "--engine", "ray", "--workers", "1", *more]


def environment(temporary: Path, cache: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "EVALUATOR_STORE") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), "EVALUATOR_CACHE": str(cache), "TMPDIR": str(temporary)}


def processes() -> dict[tuple[int, int], tuple[int, str]]:
    """(id, start) -> (parent, command) of everything that runs on this machine."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rpartition(")")[2].split()
            title = (process / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
        except OSError:  # it ended meanwhile
            continue
        found[int(process.name), int(fields[19])] = int(fields[1]), title
    return found


def descendants(root: int) -> set[tuple[int, int]]:
    """Everything that was started below a process."""
    running, inside = processes(), {root}
    while more := {pid for (pid, _), (parent, _) in running.items() if parent in inside} - inside:
        inside |= more
    return {key for key in running if key[0] in inside - {root}}


def wait_until_gone(started: set[tuple[int, int]], but: frozenset[str] = frozenset()) -> None:
    deadline = time.monotonic() + 60
    while left := [title for key, (_, title) in processes().items() if key in started and title not in but]:
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


@needs_ray
@pytest.mark.slow
def test_a_ray_of_its_own_opens_no_socket_but_on_loopback_and_leaves_nothing(
    cases: Manifest, local: Path, tmp_path: Path, temporary: Path
) -> None:
    """In a network namespace with loopback only, and traced; the tracer returns when the last process has ended."""
    if not (shutil.which("strace") and shutil.which("unshare")):
        cannot("strace and unshare are not installed")
    trace = tmp_path / "trace"
    tracer = ["strace", "-f", "--seccomp-bpf", "-e", "trace=network", "-o", str(trace)]
    traced = ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *tracer]
    run_it, variables = command(cases, tmp_path / "out", "--json"), environment(temporary, tmp_path / "cache")
    done = subprocess.run([*traced, *run_it], capture_output=True, text=True, check=False, env=variables)
    if "Operation not permitted" in done.stderr and not trace.exists():
        cannot("this machine does not let us make a network namespace")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["status"] == "success"
    assert (tmp_path / "out" / "scores.jsonl").read_bytes() == (local / "scores.jsonl").read_bytes()
    used = [line for line in trace.read_text().splitlines() if "sa_family=AF_INET" in line]
    assert any("connect(" in line for line in used)
    assert foreign_addresses("\n".join(used).replace("::ffff:127.", "127.")) == []
    assert list(temporary.iterdir()) == []


SLOW_TO_NOTICE = frozenset({"ray::DashboardAgent", "ray::RuntimeEnvAgent"})
"""Idle processes of Ray that end within a minute after a run that was killed."""


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_takes_its_workers_with_it_and_another_engine_goes_on(
    many: tuple[Manifest, bytes], tmp_path: Path, temporary: Path, how: signal.Signals
) -> None:
    out, variables = tmp_path / "out", environment(temporary, tmp_path / "cache")
    process = subprocess.Popen(command(many[0], out, "-q"), env=variables, preexec_fn=listen_to_interrupts)
    deadline = time.monotonic() + 120
    while not ((out / "scores.jsonl").exists() and (out / "scores.jsonl").stat().st_size):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    started = descendants(process.pid)
    process.send_signal(how)
    assert process.wait(120) == (130 if how is signal.SIGINT else -how)
    assert len(started) > len(SLOW_TO_NOTICE)
    wait_until_gone(started, but=frozenset() if how is signal.SIGINT else SLOW_TO_NOTICE)
    kept = (out / "scores.jsonl").read_bytes()
    assert 0 < kept.count(b"\n") < many[1].count(b"\n")
    assert run(many[0], Store.open(), options(out)).reused >= len(METRICS)
    assert (out / "scores.jsonl").read_bytes() == many[1]
