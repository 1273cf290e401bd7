"""The answers of the tiny judge to a worked example, as a ledger that can be replayed.

The tiny judge is a wiring fixture that has seen nothing but red stripes: its answers show that questions, evidence,
ledger, replay and tables work, and say nothing about a clip.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.judge.tiny import process
from tests.judge.tiny.process import ROOT


def make(manifest: Path, metrics: Sequence[str], ledger: Path) -> int:
    """Serve the tiny judge, score the example, keep the ledger without its pictures. Returns the run's exit code."""
    model = process.checkpoint(print)
    with tempfile.TemporaryDirectory() as folder, process.served(model, Path(folder, "server.log")) as server:
        out = Path(folder, "out")
        command = [sys.executable, "-m", "evaluator", "--manifest", manifest, "--out", out, "--fresh", "--quiet"]
        chosen = ["--metrics", ",".join(metrics), "--judge-url", server.address.url]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([*map(str, command), *chosen], cwd=ROOT, env=environment, check=False)
        if done.returncode == 0:
            shutil.copyfile(out / "judge.jsonl", ledger)
    return done.returncode
