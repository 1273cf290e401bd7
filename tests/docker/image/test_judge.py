"""A judge for the image: served inside the container, and as a container of its own over a shared loopback."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docker.image.conftest import CLOSED, Image, header, mounts
from tests.judge.tiny import process

ASKED = ("--metrics", "prompt_following", "--limit", "2")
PORT = 8000


def answers(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "scores.jsonl").read_text().splitlines()]


def test_a_mounted_judge_is_served_for_the_length_of_the_run(image: Image, media: Path, folder: Path) -> None:
    """With a program in place of vLLM, which is too large here: the image finds, starts, asks and stops it."""
    out, model, vllm = folder / "judged", folder / "judge", folder / "vllm"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    vllm.write_text("#!/opt/venv/bin/python\n" + (ROOT / "tests" / "judge" / "fake_server.py").read_text())
    vllm.chmod(0o755)
    options = (*mounts(media, out), f"--volume={model}:/models/judge:ro", f"--volume={vllm}:/usr/local/bin/vllm:ro")
    done = image.run("--manifest", "run.jsonl", *ASKED, options=options)
    assert done.returncode == 0, done.stderr
    assert [item["status"] for item in answers(out)] == ["ok", "ok"]
    assert header(out)["judge"]["ok"] is True  # type: ignore[index]
    assert (out / "judge.jsonl").exists()


def test_an_image_that_cannot_serve_a_judge_says_so_and_goes_on(image: Image, media: Path, folder: Path) -> None:
    out, model = folder / "unjudged", folder / "unserved"
    model.mkdir()
    (model / "config.json").write_text("{}")
    options = (*mounts(media, out), f"--volume={model}:/models/judge:ro")
    done = image.run("--manifest", "run.jsonl", *ASKED, options=options)
    assert done.returncode == 0, done.stderr
    assert "target gpu" in done.stderr
    assert [item["reason"]["code"] for item in answers(out)] == ["no_judge"] * 2  # type: ignore[index]


@pytest.fixture(scope="module")
def tiny(image: Image) -> Iterator[str]:
    """A container with the tiny judge in the environment that the tests have for it, and no network but loopback."""
    checkpoint = process.checkpoint(print)
    base = Path(
        subprocess.check_output([process.interpreter(), "-c", "import sys; print(sys.base_prefix)"], text=True).strip()
    )
    seen = {Path("/usr"), base, process.venv().resolve(), ROOT}
    volumes = [
        f"--volume={path}:{path}:ro" for path in seen if path == Path("/usr") or Path("/usr") not in path.parents
    ]
    environment = [f"--env={name}={value}" for name, value in process.environment().items() if name != "HOME"]
    server = ["-m", "tests.judge.tiny.server", str(checkpoint), "--port", str(PORT), "--name", process.NAME]
    program = f"--entrypoint={process.interpreter()}"
    started = image.docker(
        "run", "--detach", "--name=evaluator-judge", *CLOSED, "--user=0:0", program, f"--workdir={ROOT}",
        *environment, *volumes, image.name, *server,
    )  # fmt: skip
    yield started.stdout.strip()
    image.docker("rm", "--force", "evaluator-judge")


def test_a_pair_talks_over_a_loopback_that_nobody_else_has(image: Image, tiny: str, media: Path, folder: Path) -> None:
    """What docker/compose.yaml describes: the judge without a network, the evaluator in the judge's namespace."""
    joined = ("--network=container:evaluator-judge",)
    closed = tuple(option for option in CLOSED if not option.startswith("--network"))
    python = ("--entrypoint=/opt/venv/bin/python",)

    def inside(*arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return image.docker("run", "--rm", *closed, *joined, *options, image.name, *arguments, check=False)

    until = time.monotonic() + process.START_S
    while inside("-I", "/opt/evaluator/docker/healthcheck.py", str(PORT), options=python).returncode:
        assert time.monotonic() < until, image.docker("logs", tiny).stderr
        assert image.docker("inspect", "--format={{.State.Running}}", tiny).stdout.strip() == "true", image.docker(
            "logs", tiny
        ).stderr
        time.sleep(0.5)
    names = "import socket; print([name for _, name in socket.if_nameindex()])"
    assert inside("-I", "-c", names, options=python).stdout.strip() == "['lo']"
    out = folder / "pair"
    asked = ("--manifest", "run.jsonl", *ASKED, "--judge-url", f"http://127.0.0.1:{PORT}")
    done = inside(*asked, options=mounts(media, out))
    assert done.returncode == 0, done.stderr
    assert [item["status"] for item in answers(out)] == ["ok", "ok"]
    again = folder / "replayed"
    replay = ("--judge-replay", "/models/judge.jsonl")
    ledger = (f"--volume={out / 'judge.jsonl'}:/models/judge.jsonl:ro",)
    done = image.run("--manifest", "run.jsonl", *ASKED, *replay, options=(*mounts(media, again), *ledger))
    assert done.returncode == 0, done.stderr
    assert (again / "scores.jsonl").read_bytes() == (out / "scores.jsonl").read_bytes()
