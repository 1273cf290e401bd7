"""A night in a container: scored, crashed, resumed, published, compared, rotated."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docker.image.conftest import SOME, Image, header, wait_for
from tests.docker.image.test_run import size
from tests.runner.test_prom import of, parsed
from tests.test_cli import write

NIGHTLY = ROOT / "docker" / "nightly"


class Nights:
    """nightly.sh with its settings."""

    def __init__(self, image: Image, folder: Path, media: Path) -> None:
        self.runs, self.collector = folder / "runs", folder / "collector"
        self.runs.mkdir()
        self.collector.mkdir()
        self.settings = {
            "PATH": os.environ["PATH"], "DOCKER_HOST": os.environ["DOCKER_HOST"], "ENGINE": image.engine,
            "IMAGE": image.name, "MEDIA": str(media), "RUNS": str(self.runs), "PROM_DIR": str(self.collector),
            "ENGINE_OPTIONS": f"--env EVALUATOR_METRICS={SOME} --env EVALUATOR_WORKERS=1",
        }  # fmt: skip

    def start(self, night: str, **more: str) -> subprocess.Popen[str]:
        environment = {**self.settings, "NIGHT": night, **more}
        return subprocess.Popen([NIGHTLY / "nightly.sh"], env=environment, stderr=subprocess.PIPE, text=True)

    def run(self, night: str, **more: str) -> tuple[int, str]:
        child = self.start(night, **more)
        told = child.communicate()[1]
        return child.returncode, told


@pytest.fixture(scope="module")
def nights(image: Image, folder: Path, media: Path) -> Nights:
    return Nights(image, folder, media)


def test_a_night_is_scored_published_and_resumed_after_a_crash(nights: Nights, image: Image, baseline: bytes) -> None:
    out = nights.runs / "2026-11-29"
    child = nights.start("2026-11-29")
    wait_for(lambda: size(out) > 0)
    image.docker("kill", "--signal=KILL", "evaluator-2026-11-29")
    child.communicate()
    assert child.returncode == 137
    assert not (nights.collector / "evaluator.prom").exists(), "a killed run has nothing to publish"
    code, told = nights.run("2026-11-29")
    assert code == 0, told
    assert "from an earlier run" in told
    assert (out / "scores.jsonl").read_bytes() == baseline
    found = parsed((nights.collector / "evaluator.prom").read_text())
    assert of(found, "evaluator_run_status", status="success") == [1.0]
    assert len(of(found, "evaluator_score_mean")) == len(SOME.split(","))
    assert [path.name for path in nights.collector.iterdir()] == ["evaluator.prom"]


def test_a_regression_is_an_exit_code(nights: Nights, media: Path, folder: Path) -> None:
    """One night like the other, then a night in which four outputs no longer look like their sources."""
    worse = folder / "worse"
    shutil.copytree(media, worse)
    cases = [json.loads(line) for line in (media / "run.jsonl").read_text().splitlines()]
    write(worse / "run.jsonl", [{**case, "video": f"{(int(case['id']) + 1) % 8}.mp4"} for case in cases])
    rule = {"BASELINE": "2026-11-29", "FAIL_IF": "ssim<-0.01"}
    code, told = nights.run("2026-11-30", **rule)
    assert code == 0, told
    code, told = nights.run("2026-12-01", MEDIA=str(worse), **rule)
    assert code == 3, told
    assert header(nights.runs / "2026-12-01")["status"] == "success"


def test_old_nights_go_and_the_baseline_stays(nights: Nights) -> None:
    for night in ("2026-01-01", "2026-01-02"):
        (nights.runs / night).mkdir()
    code, told = nights.run("2026-12-02", BASELINE="2026-01-01", KEEP="3", EVALUATOR_LIMIT="1", IMAGE="no-such-image")
    assert code == 125, told  # the engine's own code for an image that is not there
    assert sorted(path.name for path in nights.runs.glob("20*")) == [
        "2026-01-01", "2026-11-30", "2026-12-01", "2026-12-02",
    ]  # fmt: skip


def test_logs_are_rotated_while_they_are_written(folder: Path) -> None:
    log, configuration = folder / "nightly.log", folder / "logrotate.conf"
    text = (NIGHTLY / "logrotate.conf").read_text().replace("/var/log/evaluator/nightly.log", str(log))
    configuration.write_text(text)
    with log.open("a") as writer:
        writer.write("a night\n" * 200_000)
        writer.flush()
        command = ["logrotate", "--state", str(folder / "logrotate.state"), str(configuration)]
        subprocess.run(command, check=True, capture_output=True)
        writer.write("the next night\n")
    assert log.read_text() == "the next night\n"
    assert (folder / "nightly.log.1").stat().st_size == 1_600_000


def test_the_engine_limits_what_it_keeps_of_a_container(image: Image) -> None:
    """The log driver that docker/compose.yaml and the README ask for exists in this engine and takes its options."""
    options = ("--log-driver=local", "--log-opt=max-size=10m", "--log-opt=max-file=5")
    assert image.run("--version", options=options).returncode == 0


def test_two_nights_do_not_run_at_once(nights: Nights, image: Image) -> None:
    first = nights.start("2026-12-03")
    wait_for(lambda: size(nights.runs / "2026-12-03") > 0)
    code, told = nights.run("2026-12-03")
    assert (code, "another nightly run" in told) == (2, True)
    assert first.wait() == 0
