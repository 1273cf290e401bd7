"""What the image does before it becomes `evaluator`, run as a plain script."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from types import ModuleType

import pytest

from tests.conftest import ROOT

RUN = ["--manifest", "run.jsonl"]


@pytest.fixture(scope="module")
def entry() -> ModuleType:
    spec = importlib.util.spec_from_file_location("entrypoint", ROOT / "docker" / "entrypoint.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    folder = tmp_path / "judge"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    return folder


@pytest.fixture
def vllm(tmp_path: Path) -> str:
    """A PATH with a program of that name."""
    program = tmp_path / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return str(program.parent)


@pytest.mark.parametrize(
    ("arguments", "scores"),
    [
        (RUN, True),
        (["run", *RUN], True),
        ([], False),
        (["--help"], False),
        (["--version"], False),
        (["run", "--help"], False),
        (["merge", "--out", "x"], False),
        (["models", "list"], False),
    ],
)
def test_only_a_run_is_settled(entry: ModuleType, arguments: list[str], scores: bool) -> None:
    assert entry.is_run(arguments) is scores


def test_results_go_beside_the_data_unless_something_is_mounted_for_them(entry: ModuleType, tmp_path: Path) -> None:
    places = {"data": tmp_path, "judge": tmp_path / "none"}
    assert entry.settle(RUN, {}, out=tmp_path / "out", **places) == {"EVALUATOR_OUT": f"{tmp_path}/out"}
    assert entry.settle(RUN, {}, out=Path("/proc"), **places) == {"EVALUATOR_OUT": "/proc"}  # a mount point anywhere


@pytest.mark.parametrize("arguments", [[*RUN, "--out", "/data/mine"], [*RUN, "--out=/data/mine"]])
def test_what_a_person_says_goes_first(entry: ModuleType, tmp_path: Path, arguments: list[str]) -> None:
    assert "EVALUATOR_OUT" not in entry.settle(arguments, {}, judge=tmp_path)
    assert "EVALUATOR_OUT" not in entry.settle(RUN, {"EVALUATOR_OUT": "/data/x"}, judge=tmp_path)
    assert str(entry.output_of(arguments, {})) == "/data/mine"


def test_a_mounted_judge_is_served_where_that_is_possible(entry: ModuleType, judge: Path, vllm: str) -> None:
    able = {"PATH": vllm}
    assert entry.settle(RUN, able, judge=judge)["EVALUATOR_JUDGE_MODEL"] == str(judge)
    assert "EVALUATOR_JUDGE_MODEL" not in entry.settle(RUN, {"PATH": "/nowhere"}, judge=judge)
    assert "EVALUATOR_JUDGE_MODEL" not in entry.settle(RUN, able, judge=judge / "empty")
    for choice in (["--judge-url", "http://127.0.0.1:1"], ["--judge-replay=x"], ["--judge-model", "y"]):
        assert "EVALUATOR_JUDGE_MODEL" not in entry.settle([*RUN, *choice], able, judge=judge)
    assert "EVALUATOR_JUDGE_MODEL" not in entry.settle(RUN, {**able, "EVALUATOR_JUDGE_URL": "u"}, judge=judge)


def test_kubernetes_counts_from_zero(entry: ModuleType, tmp_path: Path) -> None:
    environment = {"EVALUATOR_SHARDS": "8", "JOB_COMPLETION_INDEX": "0"}
    found = entry.settle(RUN, environment, data=tmp_path, judge=tmp_path)
    assert found == {"EVALUATOR_SHARD": "1/8", "EVALUATOR_OUT": f"{tmp_path}/out/part-1"}
    assert entry.shard({**environment, "JOB_COMPLETION_INDEX": "7"}) == (8, 8)


@pytest.mark.parametrize("first", [0, 1, 40])
def test_slurm_counts_from_where_the_array_begins(entry: ModuleType, first: int) -> None:
    ids = range(first, first + 3)
    base = {"EVALUATOR_SHARDS": "3", "SLURM_ARRAY_TASK_MIN": str(first)}
    found = [entry.shard({**base, "SLURM_ARRAY_TASK_ID": str(task)}) for task in ids]
    assert found == [(1, 3), (2, 3), (3, 3)]


def test_a_scheduler_without_the_number_of_shards_changes_nothing(entry: ModuleType) -> None:
    assert entry.shard({"JOB_COMPLETION_INDEX": "4"}) is None
    assert entry.shard({}) is None


@pytest.mark.parametrize(
    "environment",
    [
        {"EVALUATOR_SHARDS": "8"},
        {"EVALUATOR_SHARDS": "8", "JOB_COMPLETION_INDEX": "8"},
        {"EVALUATOR_SHARDS": "many", "JOB_COMPLETION_INDEX": "0"},
        {"EVALUATOR_SHARDS": "3", "SLURM_ARRAY_TASK_ID": "1"},
    ],
)
def test_numbers_that_make_no_sense_are_refused(entry: ModuleType, environment: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"SHARDS|shards|SLURM"):
        entry.shard(environment)


@pytest.mark.skipif(os.geteuid() != 0, reason="to become somebody else, one has to be root")
def test_a_folder_that_cannot_be_written_is_said_with_its_remedy(entry: ModuleType) -> None:
    """As user 10001 in a folder of user 1234: the message names the option that mends it."""
    with tempfile.TemporaryDirectory() as data:
        os.chown(data, 1234, 5678)
        reader, writer = os.pipe()
        if (child := os.fork()) == 0:
            os.setuid(10001)
            try:
                entry.require_writable(Path(data, "out"))
            except ValueError as error:
                os.write(writer, str(error).encode())
            os._exit(0)
        os.waitpid(child, 0)
        os.close(writer)
        with os.fdopen(reader) as told:
            assert told.read().endswith("run with --user 1234:5678")


def test_a_folder_on_a_read_only_mount_is_said_too(entry: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"cannot be written|read-only"):
        entry.require_writable(Path("/proc/1/none"))


def test_it_becomes_the_evaluator(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "docker" / "entrypoint.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*script, "--version"], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout.split()[0]) == (0, "evaluator")
    wrong = subprocess.run(
        [*script, *RUN, "--out", str(tmp_path)], capture_output=True, text=True, env=environment, check=False
    )
    assert wrong.returncode == 2
    assert "run.jsonl" in wrong.stderr


def healthy(port: int) -> int:
    script = [sys.executable, str(ROOT / "docker" / "healthcheck.py"), str(port)]
    return subprocess.run(script, capture_output=True, check=False).returncode


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_health_is_what_the_server_says(status: int, code: int) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            assert self.path == "/health"
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    assert healthy(server.server_port) == code
    server.shutdown()
    server.server_close()
    assert healthy(server.server_port) == 1
