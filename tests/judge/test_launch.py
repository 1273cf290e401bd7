"""The command line of vLLM, and a server that is started, awaited and taken down to the last process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from evaluator.errors import EXIT_PREREQUISITE, JudgeUnusableError
from evaluator.judge import launch, probes
from evaluator.judge.address import Address
from evaluator.judge.launch import LaunchOptions
from evaluator.judge.serve import prepare, serving
from evaluator.judge.server import Server, free_port
from tests.conftest import ROOT
from tests.judge.fake_server import Behaviour, running

OPTIONS = LaunchOptions(Path("/models/judge"), 8123)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EVALUATOR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


# ------------------------------------------------------------------------------------------------ command line


def test_the_command_keeps_the_server_here_offline_and_repeatable() -> None:
    words = launch.command(OPTIONS)
    pairs = dict(pairwise(words))
    assert words[:3] == ["vllm", "serve", "/models/judge"]
    assert pairs["--host"] == "127.0.0.1"
    assert pairs["--port"] == "8123"
    assert pairs["--seed"] == "0"
    assert pairs["--generation-config"] == "vllm"
    assert pairs["--allowed-media-domains"] == "none.invalid"
    assert pairs["--load-format"] == "safetensors"
    assert '"disable_any_whitespace":true' in pairs["--structured-outputs-config"]
    assert "--trust-request-mm-kwargs" in words
    assert not {"--trust-remote-code", "--allowed-local-media-path"} & set(words)


def test_the_environment_has_no_proxy_and_no_way_out() -> None:
    given = {"PATH": "/bin", "http_proxy": "x", "HTTPS_PROXY": "x", "ALL_PROXY": "x", "VLLM_USE_MODELSCOPE": "1"}
    assert launch.environment(given) == {"PATH": "/bin", **launch.OFFLINE}
    assert launch.OFFLINE["HF_HUB_OFFLINE"] == launch.OFFLINE["VLLM_BATCH_INVARIANT"] == "1"


def test_the_digest_of_the_flags_knows_what_changes_an_answer() -> None:
    own = launch.flags_sha256(OPTIONS)
    assert own == launch.flags_sha256(LaunchOptions(Path("/elsewhere"), 9999, vllm="/opt/vllm"))
    assert own != launch.flags_sha256(LaunchOptions(OPTIONS.model, 8123, dtype="float32"))
    assert own != launch.flags_sha256(LaunchOptions(OPTIONS.model, 8123, extra=("--enable-prefix-caching",)))


def test_servers_beside_each_other_have_names_and_share_the_memory() -> None:
    own = replace(OPTIONS, served_name="VisualQuality-R1", servers=2)
    pairs = dict(pairwise(launch.command(own)))
    assert pairs["--served-model-name"] == "VisualQuality-R1"
    assert pairs["--gpu-memory-utilization"] == "0.45"
    assert dict(pairwise(launch.command(OPTIONS)))["--served-model-name"] == "judge"
    assert "--gpu-memory-utilization" not in launch.command(OPTIONS)
    assert launch.flags_sha256(own) == launch.flags_sha256(OPTIONS)  # neither changes an answer


def test_without_vllm_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch, model: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(JudgeUnusableError, match=r"vLLM is needed.*--judge-url") as error:
        prepare(model)
    assert error.value.exit_code == EXIT_PREREQUISITE


def test_a_directory_without_safe_weights_is_not_a_judge(model: Path, tmp_path: Path) -> None:
    assert launch.require_model(model) == model
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    with pytest.raises(JudgeUnusableError, match=r"\*\.safetensors not found"):
        launch.require_model(model)
    with pytest.raises(JudgeUnusableError, match=r"config\.json and \*\.safetensors not found"):
        launch.require_model(tmp_path / "nowhere")


def test_the_digest_of_a_model_is_that_of_its_content(model: Path, tmp_path: Path) -> None:
    first = launch.model_sha256(model)
    (model / "README.md").write_text("words")
    model.rename(tmp_path / "moved")
    assert launch.model_sha256(tmp_path / "moved") == first
    (tmp_path / "moved" / "chat_template.jinja").write_text("{}")
    changed = launch.model_sha256(tmp_path / "moved")
    assert changed != first
    (tmp_path / "moved" / "model.safetensors").write_bytes(b"wieghts")
    assert launch.model_sha256(tmp_path / "moved") not in {first, changed}


# ------------------------------------------------------------------------------------------------------ server


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def worker(log: Path) -> int:
    return int(log.read_text().split("worker ")[1].split()[0])


def gone(pid: int, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


@contextmanager
def shell(script: str, tmp_path: Path) -> Iterator[Server]:
    address = Address(port=free_port())
    with Server(["sh", "-c", script], os.environ, address, tmp_path / "log") as server:
        yield server


def test_a_model_is_served_asked_and_taken_down(vllm: Path, model: Path, tmp_path: Path) -> None:
    options = prepare(model, str(vllm))
    with serving(options, tmp_path / "log", 60) as up:
        assert up.judge.ask(probes.question("Dark?")).text in {"Yes", "No"}
        assert up.judge.identity.model_sha256 == launch.model_sha256(model)
        assert launch.flags_sha256(options) in up.judge.identity.engine
        assert os.getpgid(up.server.pid) == up.server.pid != os.getpgrp()
        child = worker(tmp_path / "log")
        assert alive(child)
    assert not alive(up.server.pid)
    assert not alive(child)


def test_an_error_while_it_is_used_takes_the_server_down_too(vllm: Path, model: Path, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), serving(prepare(model, str(vllm)), tmp_path / "log", 60) as up:
        raise ZeroDivisionError
    assert not alive(up.server.pid)
    assert not alive(worker(tmp_path / "log"))


def test_a_server_that_does_not_listen_to_sigterm_is_killed(tmp_path: Path) -> None:
    with shell("trap '' TERM; echo ready; while :; do sleep 0.05; done", tmp_path) as server:
        while "ready" not in (tmp_path / "log").read_text():
            time.sleep(0.02)
        server.stop(grace=0.3)
        assert not server.alive()


def test_a_server_that_ends_at_once_is_noticed_with_its_last_words(tmp_path: Path) -> None:
    start = time.monotonic()
    with (
        shell("echo CUDA is $'\\e'[31m not here; exit 7", tmp_path) as server,
        pytest.raises(JudgeUnusableError, match=r"status 7.*\n.*CUDA is"),
    ):
        server.wait_healthy(60)
    assert time.monotonic() - start < 20


def test_a_server_that_never_gets_well_is_given_up(tmp_path: Path) -> None:
    told: list[float] = []
    with shell("sleep 60", tmp_path) as server:
        with pytest.raises(JudgeUnusableError, match="not ready within 0 s"):
            server.wait_healthy(0.3, told.append)
        assert server.alive()
    assert not server.alive()
    assert not told


def test_a_stranger_on_the_port_is_not_taken_for_our_server(tmp_path: Path) -> None:
    with running(Behaviour()) as url:
        address = Address(port=int(url.rpartition(":")[2]))
        with pytest.raises(JudgeUnusableError, match="in use"):
            Server(["sleep", "60"], os.environ, address, tmp_path / "log")


def test_a_server_does_not_outlive_a_killed_parent(vllm: Path, model: Path, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from evaluator.judge.serve import prepare, serving\n"
        f"with serving(prepare(Path({str(model)!r}), {str(vllm)!r}), Path({str(tmp_path / 'log')!r}), 60) as up:\n"
        "    print(up.server.pid, flush=True); sys.stdin.read()\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    assert parent.stdout is not None
    with parent.stdin, parent.stdout:
        server = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        try:
            assert gone(server)
        finally:
            os.killpg(server, signal.SIGKILL)  # the worker of the fake does not listen
