"""An image and the engine that runs it.

`docker/ci/image.sh` builds an image, names it in EVALUATOR_IMAGE and runs these tests; without one they skip.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.runner.clips import clip
from tests.test_cli import write

OWNER = 4242  # neither root nor the image's own account
CLOSED = ("--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
SOME = "shot_count,msm,loudness,ssim,subject_consistency"
"""Metrics with and without a model that make sense for small synthetic clips."""


@dataclass(frozen=True)
class Image:
    """An image under an engine."""

    engine: str
    name: str

    def docker(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Any command of the engine."""
        return subprocess.run([self.engine, *arguments], capture_output=True, text=True, check=check)

    def command(self, *arguments: str, options: tuple[str, ...] = ()) -> list[str]:
        """A run that is closed on every side."""
        return [self.engine, "run", "--rm", *CLOSED, *options, self.name, *arguments]

    def run(self, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        return subprocess.run(self.command(*arguments, options=options), capture_output=True, text=True, check=False)

    def score(self, media: Path, out: Path, *arguments: str, options: tuple[str, ...] = ()) -> bytes:
        """Score `media/run.jsonl` into `out`; the bytes of scores.jsonl."""
        done = self.run("--manifest", "run.jsonl", *arguments, options=(*mounts(media, out), *options))
        assert done.returncode == 0, done.stderr
        return (out / "scores.jsonl").read_bytes()


def mounts(media: Path, out: Path) -> tuple[str, ...]:
    """Media for reading, a folder for the results, and the account that owns it."""
    out.mkdir(parents=True, exist_ok=True)
    os.chown(out, OWNER, OWNER)
    return (f"--volume={media}:/data:ro", f"--volume={out}:/out", f"--user={OWNER}:{OWNER}")


def outside(media: Path, out: Path, *arguments: str) -> bytes:
    """The same scores without a container."""
    command = [sys.executable, "-m", "evaluator", "--manifest", str(media / "run.jsonl"), "--out", str(out)]
    subprocess.run([*command, *arguments], check=True, cwd=ROOT, capture_output=True)
    return (out / "scores.jsonl").read_bytes()


def wait_for(what: Callable[[], object], seconds: float = 120) -> None:
    """Return when `what` is true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def header(out: Path) -> dict[str, object]:
    """run.json."""
    found: dict[str, object] = json.loads((out / "run.json").read_text())
    return found


@pytest.fixture(scope="session")
def image() -> Image:
    """The image under test."""
    name = os.environ.get("EVALUATOR_IMAGE")
    if not name:
        pytest.skip("no image was built (docker/ci/image.sh builds one and sets EVALUATOR_IMAGE)")
    return Image(os.environ.get("EVALUATOR_DOCKER") or shutil.which("docker") or "docker", name)


@pytest.fixture(scope="session")
def folder(image: Image) -> Iterator[Path]:
    """A folder that any account may enter."""
    work = Path(os.environ["EVALUATOR_IMAGE_WORK"])
    work.mkdir(mode=0o755, exist_ok=True)
    yield work
    shutil.rmtree(work)


@pytest.fixture(scope="session")
def media(folder: Path) -> Path:
    """Eight small clips of four sources, and a manifest."""
    media = folder / "media"
    media.mkdir()
    cases = []
    for seed in range(8):
        clip(media / f"{seed}.mp4", seed=seed, frames=40)
        source, prompt = f"{seed % 4}.mp4", f"Noise, number {seed}."
        cases.append({"id": f"{seed}", "suite": "core", "video": f"{seed}.mp4", "source": source, "prompt": prompt})
    write(media / "run.jsonl", cases)
    return media


@pytest.fixture(scope="session")
def baseline(media: Path, folder: Path) -> bytes:
    """Scores of these clips without a container."""
    return outside(media, folder / "baseline", "--metrics", SOME)
