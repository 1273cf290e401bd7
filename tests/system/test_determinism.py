"""The same inputs give the same bytes: twice, with any number of workers, in shards, and after kills at any moment."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.system.conftest import MANIFEST, Demo

KILLS = 20


@pytest.mark.slow
def test_with_one_worker(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    assert demo.score(tmp_path, "--workers", "1") == baseline


@pytest.mark.slow
def test_again_with_two_workers_and_a_cold_cache(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    cold = str(tmp_path / "cold")
    assert demo.score(tmp_path / "out", "--workers", "2", EVALUATOR_CACHE=cold) == baseline


@pytest.mark.slow
def test_three_shards_merged(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    parts = [tmp_path / f"part{index}" for index in (1, 2, 3)]
    sizes = [len(demo.score(part, "--shard", f"{index}/3")) for index, part in enumerate(parts, 1)]
    assert all(sizes)
    joined = tmp_path / "joined"
    done = demo.run("merge", "--manifest", str(MANIFEST), "--out", str(joined), *map(str, reversed(parts)))
    assert done.returncode == 0, done.stderr
    assert (joined / "scores.jsonl").read_bytes() == baseline


@pytest.mark.slow
def test_resumed_after_kills_at_random_moments(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    """kill -9 until it has happened KILLS times, over as many runs as that takes, then let one finish."""
    rng = random.Random(20)  # noqa: S311
    kills = rounds = 0
    while kills < KILLS:
        out = tmp_path / f"round{rounds}"
        rounds += 1
        kills += kill_until_done(demo, out, rng, KILLS - kills)
        assert demo.score(out) == baseline
    assert rounds <= KILLS


def kill_until_done(demo: Demo, out: Path, rng: random.Random, most: int) -> int:
    """Start the same run again and again and kill each; stop when one finishes by itself. Number of kills."""
    kept = 0
    for kill in range(most):
        command = demo.command("--manifest", str(MANIFEST), "--out", str(out), "-q", "--workers", "2")
        process = subprocess.Popen(command, env=demo.environment(), start_new_session=True)
        try:
            process.wait(timeout=rng.uniform(0.5, 6.0))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
        else:
            return kill
        scores = out / "scores.jsonl"
        whole = scores.read_bytes().count(b"\n") if scores.exists() else 0
        assert whole >= kept, "a kill lost scores that were finished"
        kept = whole
    return most


def listen_to_interrupts() -> None:
    """A shell starts background jobs with interrupts ignored, and so are all of their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_finished_and_exits_130(demo: Demo, baseline: bytes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = demo.command("--manifest", str(MANIFEST), "--out", str(out), "--workers", "1")
    process = subprocess.Popen(
        command, env=demo.environment(), stderr=subprocess.PIPE, text=True, preexec_fn=listen_to_interrupts
    )
    deadline = time.monotonic() + 120
    while not ((out / "scores.jsonl").exists() and (out / "scores.jsonl").stat().st_size):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "run the same command to go on" in told
    assert '"status": "cancelled"' in (out / "run.json").read_text()
    assert 0 < (out / "scores.jsonl").read_bytes().count(b"\n") < baseline.count(b"\n")
    assert demo.score(out) == baseline
