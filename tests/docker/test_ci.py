"""The image job and the walls of the test run: each fails where it cannot work, and is turned off by hand only."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.system.test_airgap import cannot

GATE, WALL, JOB = ROOT / ".ci" / "run", ROOT / ".ci" / "without-network", ROOT / "docker" / "ci" / "image.sh"

LOOKS = """
import os, socket
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen()
socket.create_connection(server.getsockname(), 5).close()
print([name for _, name in socket.if_nameindex() if name == "lo"], sorted({"CI", "GITHUB_ACTIONS"} & set(os.environ)))
try: socket.create_connection(("192.0.2.1", 80), 5)
except OSError as error: print(error.strerror)
"""


def test_inside_the_wall_there_is_loopback_and_nothing_else() -> None:
    if subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode:
        cannot("this machine does not let us make a network namespace")
    environment = {**os.environ, "CI": "true", "GITHUB_ACTIONS": "true"}
    command = [WALL, "python3", "-c", LOOKS]
    told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.splitlines()
    assert told == ["['lo'] []", "Network is unreachable"]
    assert subprocess.run([WALL, "sh", "-c", "exit 7"], check=False).returncode == 7


def test_a_machine_without_namespaces_fails_and_says_how_to_turn_it_off(tmp_path: Path) -> None:
    stub = tmp_path / "unshare"
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run([WALL, "echo", "ran"], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (1, "")
    assert "CI_AIRGAP=0" in done.stderr


def test_an_engine_that_cannot_start_fails_the_job(tmp_path: Path) -> None:
    """Both storage drivers are tried, the job says how it is turned off by hand, and what it began is gone."""
    script = f"set -euo pipefail; . docker/ci/engine.sh; engine_start {tmp_path / 'engine'}; echo went on"
    environment = {**os.environ, "DOCKERD": "/bin/false"}
    command = ["bash", "-c", script]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    for word in ("overlay2", "vfs", "CI_IMAGE=0"):
        assert word in done.stderr


def test_the_job_is_turned_off_by_hand_only() -> None:
    off = subprocess.run([JOB], env={**os.environ, "CI_IMAGE": "0"}, capture_output=True, text=True, check=False)
    assert (off.returncode, off.stdout) == (0, "CI_IMAGE=0: no image is built or tested\n")


@pytest.mark.parametrize("name", ["CI_IMAGE", "CI_AIRGAP"])
def test_the_gate_says_what_turns_a_step_off(name: str) -> None:
    text = GATE.read_text()
    assert f"#   {name}=0" in text


def test_the_image_comes_last_since_it_compares_with_what_was_made_before() -> None:
    steps = [line for line in GATE.read_text().splitlines() if line and not line.startswith(("#", "step", " "))]
    assert steps[-1] == "docker/ci/image.sh"
