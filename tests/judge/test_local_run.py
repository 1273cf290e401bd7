"""A judged run with `--judge-model` where vLLM is not installed: the model answers in this process, and says so."""

from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.judge.tiny import process
from tests.runner.clips import clip

pytestmark = pytest.mark.timeout(600)


def evaluate(*words: object) -> subprocess.CompletedProcess[str]:
    """The command line in the environment that has torch, with this environment's packages behind its own."""
    script = "import sys; sys.path.append(sys.argv.pop(1)); from evaluator.cli import command; command(sys.argv[1:])"
    packages = sysconfig.get_paths()["purelib"]
    arguments = [str(process.interpreter()), "-c", script, packages, *map(str, words)]
    return subprocess.run(
        arguments, cwd=process.ROOT, env=process.environment(), capture_output=True, text=True, check=False
    )


def test_a_model_directory_answers_without_a_server(tiny_checkpoint: Path, tmp_path: Path) -> None:
    clip(tmp_path / "one.mp4", frames=12)
    line = {"id": "one", "suite": "core", "video": "one.mp4", "prompt": "Stripes that run across."}
    (tmp_path / "m.jsonl").write_text(json.dumps(line))
    out = tmp_path / "out"
    common = ("--manifest", tmp_path / "m.jsonl", "--metrics", "prompt_following")
    done = evaluate(*common, "--out", out, "--judge-model", tiny_checkpoint)
    assert done.returncode == 0, done.stderr
    [record] = [json.loads(row) for row in (out / "scores.jsonl").read_text().splitlines()]
    assert record["status"] == "ok"
    assert "wiring fixture" in record["models"][0]["stands_in_for"]
    header = json.loads((out / "run.json").read_text())
    assert "transformers" in json.dumps(header["judge"])
    assert header["judge_calls"]["asked"] == 1
    replayed = evaluate(*common, "--out", tmp_path / "again", "--judge-replay", out / "judge.jsonl")
    assert replayed.returncode == 0, replayed.stderr
    assert (tmp_path / "again" / "scores.jsonl").read_bytes() == (out / "scores.jsonl").read_bytes()


def test_vllm_is_never_replaced_where_it_was_asked_for(tiny_checkpoint: Path, tmp_path: Path) -> None:
    clip(tmp_path / "one.mp4", frames=12)
    line = {"id": "one", "suite": "core", "video": "one.mp4", "prompt": "Stripes."}
    (tmp_path / "m.jsonl").write_text(json.dumps(line))
    done = evaluate(
        *("--manifest", tmp_path / "m.jsonl", "--metrics", "prompt_following", "--out", tmp_path / "out"),
        *("--judge-model", tiny_checkpoint, "--judge-engine", "vllm"),
    )
    assert done.returncode == 4
    assert "--judge-engine local" in done.stderr
