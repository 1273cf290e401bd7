"""Make manifests/covebench/judge.jsonl anew: the tiny judge answers the questions of the worked example.

    python -m tests.suites.covebench.make_ledger

The tiny judge (tests/judge/tiny) is a wiring fixture that has seen nothing but red stripes: its answers show that
questions, evidence, ledger, replay and tables work, and say nothing about a clip. Needed after a change of a prompt, of
the evidence or of the example. The ledger answers as long as the demo clips are the same to the last bit; where an
encoder makes others, replay says so (`no_judge`), and this script makes a ledger for that machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from evaluator.suites.covebench import checklist
from tests.judge.tiny import process
from tests.judge.tiny.process import ROOT

MANIFEST = ROOT / "manifests" / "covebench.example.jsonl"
LEDGER = ROOT / "manifests" / "covebench" / "judge.jsonl"
JUDGED = tuple(metric.id for metric in checklist.METRICS)


def main() -> int:
    """Serve the tiny judge, score the example, keep the ledger without its pictures."""
    model = process.checkpoint(print)
    with tempfile.TemporaryDirectory() as folder, process.served(model, Path(folder, "server.log")) as server:
        out = Path(folder, "out")
        command = [sys.executable, "-m", "evaluator", "--manifest", MANIFEST, "--out", out, "--fresh", "--quiet"]
        chosen = ["--metrics", ",".join(JUDGED), "--judge-url", server.address.url]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([*map(str, command), *chosen], cwd=ROOT, env=environment, check=False)
        if done.returncode == 0:
            shutil.copyfile(out / "judge.jsonl", LEDGER)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
