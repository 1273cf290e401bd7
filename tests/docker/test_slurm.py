"""The Slurm templates on a real Slurm of one node: an array of shards, and the merge that waits for all."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.docker.slurm_cluster import cluster
from tests.runner.clips import clip
from tests.test_cli import write

METRICS = "shot_count,msm,loudness,ssim"


@pytest.mark.slow
def test_an_array_and_its_merge_give_the_bytes_of_one_run(tmp_path: Path) -> None:
    if not os.environ.get("EVALUATOR_SLURM"):
        pytest.skip("starts a Slurm cluster here: CI_IMAGE=full does, or EVALUATOR_SLURM=1")
    cases = []
    for seed in range(6):
        clip(tmp_path / f"{seed}.mp4", seed=seed, frames=30)
        cases.append({"id": f"{seed}", "suite": "core", "video": f"{seed}.mp4", "source": f"{seed}.mp4"})
    manifest, out = tmp_path / "run.jsonl", tmp_path / "out"
    write(manifest, cases)
    evaluator = [sys.executable, "-m", "evaluator"]
    single = ["run", "--manifest", str(manifest), "--out", str(tmp_path / "single"), "--metrics", METRICS]
    subprocess.run([*evaluator, *single], cwd=ROOT, check=True, capture_output=True)
    with cluster(tmp_path / "slurm") as environment:
        extra = {"EVALUATOR": " ".join(evaluator), "PYTHONPATH": str(ROOT), "EVALUATOR_METRICS": METRICS}
        submit = [str(ROOT / "docker" / "slurm" / "submit.sh"), "3", str(manifest), str(out)]
        told = subprocess.run(submit, env={**environment, **extra}, capture_output=True, text=True, check=True).stdout
        merge = told.split()[-1]
        show = ["scontrol", "show", "job", merge]
        for _ in range(600):
            state = subprocess.run(show, env=environment, capture_output=True, text=True, check=True).stdout
            if "JobState=COMPLETED" in state or "JobState=FAILED" in state:
                break
            time.sleep(0.5)
    logs = "".join(path.read_text() for path in sorted(out.glob("*.log")))
    assert "JobState=COMPLETED" in state, f"{state}\n{logs}"
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["all", "part-1", "part-2", "part-3"]
    assert (out / "all" / "scores.jsonl").read_bytes() == (tmp_path / "single" / "scores.jsonl").read_bytes()
