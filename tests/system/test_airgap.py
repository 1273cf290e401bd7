"""No socket but loopback, and no library that has no business in a CPU run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from tests.conftest import ROOT
from tests.system.conftest import MANIFEST, Demo

TRACED = re.compile(r"sa_family=AF_INET6?.*?(?:inet_addr\(\"([^\"]+)\"\)|inet_pton\(AF_INET6, \"([^\"]+)\")")


def foreign_addresses(trace: str) -> list[str]:
    """Lines of a trace in which an internet address other than loopback is used, or an internet socket is opened."""
    found = []
    for line in trace.splitlines():
        if "AF_INET" not in line:
            continue
        addresses = [first or second for first, second in TRACED.findall(line)]
        if not addresses or not all(address == "::1" or address.startswith("127.") for address in addresses):
            found.append(line)
    return found


def cannot(reason: str) -> NoReturn:
    """Skip, or fail where the proof is demanded (CI sets EVALUATOR_REQUIRE_AIRGAP)."""
    if os.environ.get("EVALUATOR_REQUIRE_AIRGAP"):
        pytest.fail(reason)
    pytest.skip(reason)


def test_the_reader_of_traces_sees_what_it_must() -> None:
    socket = "7 socket(AF_INET, SOCK_DGRAM|SOCK_CLOEXEC, IPPROTO_IP) = 3"
    away = '7 connect(3, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.7")}, 16) = 0'
    home = '7 connect(3, {sa_family=AF_INET, sin_port=htons(8000), sin_addr=inet_addr("127.0.0.1")}, 16) = 0'
    unix = '7 connect(3, {sa_family=AF_UNIX, sun_path="/run/x"}, 110) = 0'
    assert foreign_addresses("\n".join([socket, away, home, unix])) == [socket, away]


@pytest.mark.slow
def test_the_demo_opens_no_socket_to_anywhere(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    """In a network namespace with loopback only, traced, and with the variables unset that quiet some libraries."""
    if not (shutil.which("strace") and shutil.which("unshare")):
        cannot("strace and unshare are not installed")
    trace = tmp_path / "trace"
    tracer = ["strace", "-f", "--seccomp-bpf", "-e", "trace=network", "-o", str(trace)]
    run = demo.command("--manifest", str(MANIFEST), "--out", str(tmp_path / "out"))
    command = ["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh", *tracer, *run]
    environment = {k: v for k, v in demo.environment().items() if k not in {"CI", "GITHUB_ACTIONS"}}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if "Operation not permitted" in done.stderr and not trace.exists():
        cannot("this machine does not let us make a network namespace")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "scores.jsonl").read_bytes() == baseline
    assert foreign_addresses(trace.read_text()) == []


@pytest.mark.slow
def test_a_judged_run_talks_to_loopback_only(demo: Demo, tmp_path: Path) -> None:
    """Handshake, self-check and questions, with the judge in the same namespace, and every process traced."""
    if not (shutil.which("strace") and shutil.which("unshare")):
        cannot("strace and unshare are not installed")
    trace, out = tmp_path / "trace", tmp_path / "out"
    server = [sys.executable, str(ROOT / "tests" / "judge" / "fake_server.py"), "serve", "model", "--port", "8123"]
    chosen = ["--metrics", "prompt_following", "--limit", "2", "--judge-url", "http://127.0.0.1:8123"]
    run = demo.command("--manifest", str(MANIFEST), "--out", str(out), *chosen)
    wait = f'{sys.executable} -c "{WAIT}"'
    script = f"ip link set lo up; {shlex.join(server)} & {wait}; {shlex.join(run)}; code=$?; kill $!; exit $code"
    tracer = ["strace", "-f", "--seccomp-bpf", "-e", "trace=network", "-o", str(trace)]
    command = ["unshare", "--net", *tracer, "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=demo.environment())
    assert done.returncode == 0, done.stderr
    assert (out / "scores.jsonl").read_bytes().count(b'"status":"ok"') == 2
    told = trace.read_text()
    connected = [line for line in told.splitlines() if "connect(" in line and "AF_INET" in line]
    assert connected
    assert [line for line in foreign_addresses(told) if "sa_family" in line] == []


WAIT = (
    "import socket, time\n"
    "for _ in range(100):\n"
    "    try: socket.create_connection(('127.0.0.1', 8123), 1); break\n"
    "    except OSError: time.sleep(0.1)"
)


@pytest.mark.slow
def test_the_tracer_would_notice(tmp_path: Path) -> None:
    """The same proof on a program that does open an internet socket."""
    if not shutil.which("strace"):
        cannot("strace is not installed")
    trace = tmp_path / "trace"
    tracer = ["strace", "-f", "--seccomp-bpf", "-e", "trace=network", "-o", str(trace)]
    offender = [sys.executable, "-c", "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)"]
    subprocess.run([*tracer, *offender], check=True, capture_output=True)
    assert foreign_addresses(trace.read_text())


@pytest.mark.slow
def test_a_run_imports_no_training_library(demo: Demo, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-X",
        "importtime",
        *demo.command("--manifest", str(MANIFEST), "--out", str(tmp_path))[1:],
    ]
    done = subprocess.run(
        [*command, "--limit", "1"], capture_output=True, text=True, check=True, env=demo.environment()
    )
    imported = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
    assert "onnxruntime" in imported
    assert not imported & {"torch", "transformers", "tensorrt", "nvidia", "tensorflow", "jax"}
