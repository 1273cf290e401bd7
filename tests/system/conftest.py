"""The demo as a person runs it: whole processes over real clips and prepared models."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT

MANIFEST = ROOT / "manifests" / "demo.jsonl"


@dataclass(frozen=True)
class Demo:
    """Runs `python -m evaluator` with a cache of its own."""

    folder: Path

    def environment(self, **extra: str) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {**kept, "PYTHONPATH": str(ROOT), "EVALUATOR_CACHE": str(self.folder / "cache"), **extra}

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "evaluator", *arguments]

    def run(self, *arguments: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, check=False, env=self.environment(**extra)
        )

    def score(self, out: Path, *arguments: str, **extra: str) -> bytes:
        """Score the demo; the bytes of scores.jsonl."""
        done = self.run("--manifest", str(MANIFEST), "--out", str(out), *arguments, **extra)
        assert done.returncode == 0, done.stderr
        return (out / "scores.jsonl").read_bytes()


@pytest.fixture(scope="session")
def demo(models: object, tmp_path_factory: pytest.TempPathFactory) -> Demo:
    """The demo, if its clips are there."""
    if not (ROOT / "manifests" / "demo").is_dir():
        pytest.skip("demo clips are not made (./run.sh setup)")
    return Demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="session")
def baseline(demo: Demo) -> bytes:
    """scores.jsonl of an uninterrupted run."""
    return demo.score(demo.folder / "baseline")


def lines(data: bytes) -> Sequence[bytes]:
    """The records of a scores file."""
    return data.splitlines()
