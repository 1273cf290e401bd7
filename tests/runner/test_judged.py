"""Judged metrics in a run: without a judge, with one, resumed, replayed from the ledger, and merged from shards."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.errors import UsageError
from evaluator.runner.judging import JudgeChoice
from tests.judge import fake_server
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

METRIC = "prompt_following"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    for seed, name in enumerate(("one", "two")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=12)
    cases = [{"id": n, "suite": "core", "video": f"{n}.mp4", "prompt": f"A picture of {n}."} for n in ("one", "two")]
    write(tmp_path / "m.jsonl", cases)
    return tmp_path / "m.jsonl"


@pytest.fixture
def url() -> Iterator[str]:
    with running(Behaviour()) as address:
        yield address


def test_without_a_judge_the_metric_is_skipped_and_nothing_is_decoded(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
) -> None:
    assert cli("--manifest", manifest, "--out", tmp_path / "out", "--metrics", METRIC).code == 0
    assert [item["reason"]["code"] for item in records(tmp_path / "out")] == ["no_judge"] * 2  # type: ignore[index]
    header = json.loads((tmp_path / "out" / "run.json").read_text())
    assert header["judge"] is None
    assert "decode_passes" not in header["telemetry"]["counters"]


def test_a_judge_answers_is_recorded_and_not_asked_twice(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    url: str,
) -> None:
    out = tmp_path / "out"
    arguments = ("--manifest", manifest, "--out", out, "--metrics", METRIC)
    told = cli(*arguments, "--judge-url", url)
    assert told.code == 0, told.err
    for item in records(out):
        assert item["status"] == "ok"
        assert 0 <= item["value"] <= 1  # type: ignore[operator]
        assert [judge["tier"] for judge in item["models"]] == ["reference"]  # type: ignore[attr-defined]
    header = json.loads((out / "run.json").read_text())
    assert header["judge"]["ok"] is True
    assert header["judge_calls"]["asked"] == header["judge_calls"]["ok"] == 2
    last = json.loads((out / "judge.jsonl").read_bytes().splitlines()[-1])
    assert header["judge_calls"]["ledger"] == {"records": last["seq"] + 1, "head": last["self"]}
    assert cli("judge", "verify", out / "judge.jsonl").code == 0
    first = (out / "scores.jsonl").read_bytes()
    asked = (out / "judge.jsonl").read_bytes()
    assert "(2 from an earlier run)" in cli(*arguments, "--judge-url", url).err
    assert (out / "scores.jsonl").read_bytes() == first
    assert (out / "judge.jsonl").read_bytes() == asked


def test_a_replay_gives_the_same_bytes_without_a_server(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
) -> None:
    common = ("--manifest", manifest, "--metrics", METRIC)
    with running(Behaviour()) as url:
        cli(*common, "--out", tmp_path / "live", "--judge-url", url)
    told = cli(*common, "--out", tmp_path / "replay", "--judge-replay", tmp_path / "live" / "judge.jsonl")
    assert told.code == 0, told.err
    live, replayed = ((tmp_path / name / "scores.jsonl").read_bytes() for name in ("live", "replay"))
    assert replayed == live
    assert live.count(b'"ok"') == 2


def test_another_prompt_is_another_question(cli: Cli, manifest: Path, tmp_path: Path, url: str) -> None:  # noqa: F811
    arguments = ("--manifest", manifest, "--out", tmp_path / "out", "--metrics", METRIC, "--judge-url", url)
    cli(*arguments)
    before = records(tmp_path / "out")
    manifest.write_text(manifest.read_text().replace("picture of two", "film about two"))
    assert "(1 from an earlier run)" in cli(*arguments).err
    after = records(tmp_path / "out")
    assert after[0] == before[0]
    assert after[1]["fingerprint"] != before[1]["fingerprint"]


def test_a_judge_that_comes_later_is_asked(cli: Cli, manifest: Path, tmp_path: Path, url: str) -> None:  # noqa: F811
    arguments = ("--manifest", manifest, "--out", tmp_path / "out", "--metrics", METRIC)
    cli(*arguments)
    cli(*arguments, "--judge-url", url)
    assert {item["status"] for item in records(tmp_path / "out")} == {"ok"}


def test_shards_join_their_ledgers(cli: Cli, manifest: Path, tmp_path: Path, url: str) -> None:  # noqa: F811
    common = ("--manifest", manifest, "--metrics", METRIC)
    cli(*common, "--out", tmp_path / "whole", "--judge-url", url)
    parts = [tmp_path / "1", tmp_path / "2"]
    for index, part in enumerate(parts, 1):
        cli(*common, "--out", part, "--shard", f"{index}/2", "--judge-url", url)
    assert cli("merge", "--manifest", manifest, "--out", tmp_path / "all", *parts).code == 0
    assert (tmp_path / "all" / "scores.jsonl").read_bytes() == (tmp_path / "whole" / "scores.jsonl").read_bytes()
    assert cli("judge", "verify", tmp_path / "all" / "judge.jsonl").code == 0


def test_a_run_that_asks_nothing_starts_no_judge(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    told = cli("--manifest", manifest, "--out", tmp_path, "--metrics", "silence", "--judge-url", "http://127.0.0.1:9")
    assert told.code == 0, told.err


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://192.0.2.1:8000", "http://example.org"])
def test_a_judge_that_cannot_be_used_is_said_before_the_work(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    address: str,
) -> None:
    told = cli("--manifest", manifest, "--out", tmp_path / "out", "--metrics", METRIC, "--judge-url", address)
    assert told.code in {2, 4}
    assert address.removeprefix("http://").split(":")[0] in told.err
    assert not (tmp_path / "out" / "scores.jsonl").exists()


def test_only_one_judge_can_be_chosen(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--judge-url, --judge-replay"):
        JudgeChoice(url="http://127.0.0.1:1", replay=tmp_path)


def test_a_mounted_judge_is_served_for_the_length_of_the_run(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a program in place of vLLM that takes its command line, starts a worker of its own, and serves."""
    model, programs = tmp_path / "model", tmp_path / "bin"
    model.mkdir()
    (model / "config.json").write_text("{}")
    (model / "model.safetensors").write_bytes(b"weights")
    programs.mkdir()
    stand_in = programs / "vllm"
    stand_in.write_text(
        f'#!/bin/sh\nsleep 1000 &\necho "worker $!"\nexec {sys.executable} {fake_server.__file__} "$@"\n'
    )
    stand_in.chmod(0o755)
    arguments = ("--manifest", manifest, "--out", tmp_path / "out", "--metrics", METRIC, "--judge-model", model)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    missing = cli(*arguments)
    assert missing.code == 4
    assert "vLLM" in missing.err
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    told = cli(*arguments)
    assert told.code == 0, told.err
    assert {item["status"] for item in records(tmp_path / "out")} == {"ok"}
    worker = int((tmp_path / "out" / "judge-server.log").read_text().split("worker ")[1].split()[0])
    assert not alive(worker), "a process of the server outlived the run"


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and waits for its parent does not."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
