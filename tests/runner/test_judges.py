"""Several judges in one run: each is met by itself, asked only what is its own, and named in its records."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import UsageError
from evaluator.judge.handshake import examine
from evaluator.judge.ledger import read_records
from evaluator.judge.record import Call, Opening
from evaluator.judge.types import Modality
from evaluator.runner.judging import JudgeChoice, Reserved
from tests.judge import fake_server
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

MODEL = "VisualQuality-R1"
ASKED = ("--metrics", "prompt_following,vqr")
RATING = "<answer>3.25</answer>"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """One case for any judge, one for VisualQuality-R1."""
    for seed, name in enumerate(("core", "cove")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=12, sound=False)
    general = {"id": "general", "suite": "core", "video": "core.mp4", "prompt": "Stripes."}
    own = {"id": "own", "suite": "covebench", "video": "cove.mp4", "data": {"task": 9001}}
    write(tmp_path / "m.jsonl", [general, own])
    return tmp_path / "m.jsonl"


@pytest.fixture
def common() -> Iterator[tuple[Behaviour, str]]:
    how = Behaviour()
    with running(how) as url:
        yield how, url


@pytest.fixture
def rater() -> Iterator[tuple[Behaviour, str]]:
    how = Behaviour(model="TianheWu/VisualQuality-R1-7B", text=RATING)
    with running(how) as url:
        yield how, url


Server = tuple[Behaviour, str]


def judges(common: Server, rater: Server) -> tuple[str, ...]:
    return ("--judge-url", common[1], "--judge-for", f"{MODEL}={rater[1]}")


def found(folder: Path) -> dict[str, Any]:
    return {str(item["metric"]): item for item in records(folder)}


def header(folder: Path) -> Any:
    return json.loads((folder / "run.json").read_text())


def test_each_judge_is_asked_its_own_questions_in_one_run(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    out = tmp_path / "out"
    told = cli("--manifest", manifest, "--out", out, *ASKED, *judges(common, rater))
    assert told.code == 0, told.err
    rows = found(out)
    assert rows["vqr"]["value"] == 3.25
    assert {name: [model["id"] for model in row["models"]] for name, row in rows.items()} == {
        "prompt_following": ["judge"],
        "vqr": ["TianheWu/VisualQuality-R1-7B"],
    }
    lines = list(read_records(out / "judge.jsonl"))
    calls = Counter((one.endpoint, one.judge.model, one.task) for one in lines if isinstance(one, Call))
    assert calls == {
        ("judge", "judge", "shows_prompt"): 1,
        (f"for {MODEL}", "TianheWu/VisualQuality-R1-7B", "covebench_vqr"): 10,
    }
    [opening] = [one for one in lines if isinstance(one, Opening)]
    assert list(opening.judges) == ["judge", f"for {MODEL}"]
    assert cli("judge", "verify", out / "judge.jsonl").code == 0


def test_the_header_holds_a_verdict_on_each(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    """VisualQuality-R1 is examined in what it is shown: stills. It need not mind the times of frames."""
    cli("--manifest", manifest, "--out", tmp_path, *ASKED, *judges(common, rater))
    told = header(tmp_path)
    first, own = told["judge"], told["judge"]["reserved"][MODEL]
    assert (first["ok"], first["judge"]["model"]) == (True, "judge")
    assert (own["ok"], own["judge"]["model"]) == (True, "TianheWu/VisualQuality-R1-7B")
    assert own["judge"]["modalities"] == ["image", "text"]
    tried = [{finding["name"] for finding in verdict["findings"]} for verdict in (first, own)]
    assert tried[0] - tried[1] == {"looks at frames", "minds the times of frames"}
    assert told["judge_calls"]["asked"] == told["judge_calls"]["ok"] == 11
    assert told["options"]["judge"]["reserved"] == [{"model": MODEL, "url": rater[1], "folder": None}]


def test_a_second_run_asks_nobody_and_a_replay_needs_nobody(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    out = tmp_path / "out"
    arguments = ("--manifest", manifest, *ASKED)
    cli(*arguments, "--out", out, *judges(common, rater))
    scores, ledger = ((out / name).read_bytes() for name in ("scores.jsonl", "judge.jsonl"))
    assert "(2 from an earlier run)" in cli(*arguments, "--out", out, *judges(common, rater)).err
    assert ((out / "scores.jsonl").read_bytes(), (out / "judge.jsonl").read_bytes()) == (scores, ledger)
    told = cli(*arguments, "--out", tmp_path / "replay", "--judge-replay", out / "judge.jsonl")
    assert told.code == 0, told.err
    assert (tmp_path / "replay" / "scores.jsonl").read_bytes() == scores


def test_one_that_is_not_given_leaves_only_its_own_metrics(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    arguments = ("--manifest", manifest, *ASKED)
    cli(*arguments, "--out", tmp_path / "1", "--judge-url", common[1])
    cli(*arguments, "--out", tmp_path / "2", "--judge-for", f"{MODEL.lower()}={rater[1]}")
    without_own, without_common = found(tmp_path / "1"), found(tmp_path / "2")
    assert without_own["prompt_following"]["status"] == without_common["vqr"]["status"] == "ok"
    assert f"only {MODEL} may answer this, and the judge is judge" in without_own["vqr"]["reason"]["message"]
    assert f"--judge-for {MODEL}=URL" in without_own["vqr"]["reason"]["message"]
    assert without_common["prompt_following"]["reason"]["code"] == "no_judge"
    assert list(header(tmp_path / "2")["judge"]) == ["reserved"]


def test_one_that_comes_later_changes_nothing_for_the_others(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    arguments = ("--manifest", manifest, "--out", tmp_path / "out", *ASKED)
    cli(*arguments, "--judge-url", common[1])
    before = found(tmp_path / "out")
    told = cli(*arguments, *judges(common, rater))
    after = found(tmp_path / "out")
    assert "(1 from an earlier run)" in told.err
    assert after["prompt_following"] == before["prompt_following"]
    assert after["vqr"]["fingerprint"] != before["vqr"]["fingerprint"]
    assert after["vqr"]["status"] == "ok"


def test_one_that_nobody_asks_is_not_met(cli: Cli, manifest: Path, tmp_path: Path, common: Server) -> None:  # noqa: F811
    chosen = ("--judge-url", common[1], "--judge-for", f"{MODEL}=http://127.0.0.1:9")
    told = cli("--manifest", manifest, "--out", tmp_path / "1", "--metrics", "prompt_following", *chosen)
    assert told.code == 0, told.err
    chosen = ("--judge-url", "http://127.0.0.1:9", "--judge-for", f"{MODEL}={common[1]}")
    told = cli("--manifest", manifest, "--out", tmp_path / "2", "--metrics", "vqr", *chosen)
    assert told.code == 4  # the judge for everything else is not missed; the one that is met is not what it should be
    assert f"expected exactly one model called like '{MODEL}' to be served, found judge" in told.err


def test_each_passes_its_own_examination(cli: Cli, manifest: Path, tmp_path: Path, common: Server) -> None:  # noqa: F811
    with running(Behaviour(model=MODEL, blind=True)) as url:
        told = cli("--manifest", manifest, "--out", tmp_path, *ASKED, *judges(common, (Behaviour(), url)))
    assert told.code == 4
    assert f"the judge {MODEL} failed its check. looks at pictures" in told.err
    assert not (tmp_path / "scores.jsonl").exists()


@pytest.mark.parametrize(
    ("chosen", "says"),
    [
        (["VisualQuality=http://127.0.0.1:9"], "no metric asks for that model; there are VisualQuality-R1"),
        ([MODEL], "expected NAME=VALUE"),
        ([f"{MODEL}=/nowhere"], "expected a URL on loopback or a model directory"),
        ([f"{MODEL}=http://192.0.2.1:8000"], "192.0.2.1"),
        ([f"{MODEL}=http://127.0.0.1:9", f"{MODEL.upper()}=http://127.0.0.1:8"], "expected each model once"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    chosen: list[str],
    says: str,
) -> None:
    words = [word for one in chosen for word in ("--judge-for", one)]
    told = cli("--manifest", manifest, "--out", tmp_path / "out", *ASKED, *words)
    assert told.code == 2
    assert says in told.err


def test_a_replay_is_for_all_judges() -> None:
    with pytest.raises(UsageError, match="leave --judge-for out"):
        JudgeChoice(replay=Path("judge.jsonl"), reserved=(Reserved(MODEL, "http://127.0.0.1:9"),))


def test_shards_that_need_different_judges_join_to_a_run_of_both(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    common: Server,
    rater: Server,
) -> None:
    arguments = ("--manifest", manifest, *ASKED)
    cli(*arguments, "--out", tmp_path / "whole", *judges(common, rater))
    parts = [tmp_path / "1", tmp_path / "2"]
    for index, part in enumerate(parts, 1):
        told = cli(*arguments, "--out", part, "--shard", f"{index}/2", *judges(common, rater))
        assert told.code == 0, told.err
    assert [set(header(part)["judge"]) & {"ok", "reserved"} for part in parts] == [{"ok"}, {"reserved"}]
    assert cli("merge", "--manifest", manifest, "--out", tmp_path / "all", *reversed(parts)).code == 0
    joined, ledger = header(tmp_path / "all"), tmp_path / "all" / "judge.jsonl"
    assert joined["judge"] == header(tmp_path / "whole")["judge"]
    assert joined["judge_calls"]["asked"] == 11
    last = json.loads(ledger.read_bytes().splitlines()[-1])
    assert joined["judge_calls"]["ledger"] == {"records": last["seq"] + 1, "head": last["self"]}
    assert cli("judge", "verify", ledger).code == 0
    told = cli(*arguments, "--out", tmp_path / "replay", "--judge-replay", ledger)
    assert told.code == 0, told.err
    replayed, whole = ((tmp_path / name / "scores.jsonl").read_bytes() for name in ("replay", "whole"))
    assert replayed == whole


def test_directories_are_served_side_by_side(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a program in place of vLLM that takes its command line and serves; both share one GPU's memory."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "vllm").write_text(f'#!/bin/sh\necho "$@"\nexec {sys.executable} {fake_server.__file__} "$@"\n')
    (programs / "vllm").chmod(0o755)
    for name in ("any", f"{MODEL}-7B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
        (tmp_path / name / "model.safetensors").write_bytes(name.encode())
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    out = tmp_path / "out"
    chosen = ("--judge-model", tmp_path / "any", "--judge-for", f"{MODEL}={tmp_path / f'{MODEL}-7B'}")
    told = cli("--manifest", manifest, "--out", out, *ASKED, *chosen)
    assert told.code == 0, told.err
    assert found(out)["vqr"]["value"] == 2.5
    assert [row["models"][0]["id"] for row in found(out).values()] == ["judge", MODEL]
    calls = [one for one in read_records(out / "judge.jsonl") if isinstance(one, Call)]
    assert len({one.judge.model_sha256 for one in calls}) == 2
    logs = [(out / name).read_text() for name in ("judge-server.log", f"judge-server-{MODEL}.log")]
    assert all("--gpu-memory-utilization 0.45" in log for log in logs)


def test_a_directory_of_another_name_does_not_become_the_model(tmp_path: Path) -> None:
    """Its answers would be recorded as that model's, whoever gave them."""
    for name in ("judge", f"{MODEL}-7B"):
        (tmp_path / name).mkdir()
    (tmp_path / MODEL).symlink_to(tmp_path / "judge")
    for name in ("judge", MODEL):
        with pytest.raises(UsageError, match="a directory whose name holds"):
            Reserved.of(MODEL, str(tmp_path / name))
    assert Reserved.of(MODEL.lower(), str(tmp_path / f"{MODEL}-7B")).folder == tmp_path / f"{MODEL}-7B"


def test_choices_that_are_needed() -> None:
    own = Reserved("visualquality-r1", "http://127.0.0.1:9")
    both = JudgeChoice(url="http://127.0.0.1:8", reserved=(own,))
    assert not both.needed([]).chosen
    assert both.needed([""]) == JudgeChoice(url=both.url)
    assert both.needed([MODEL]) == JudgeChoice(reserved=(Reserved(MODEL, own.url),))
    assert both.needed(["", MODEL]) == JudgeChoice(url=both.url, reserved=(Reserved(MODEL, own.url),))
    assert JudgeChoice(url=both.url).needed([MODEL]).url == both.url  # it may be that model


def test_a_judge_that_sees_stills_only_is_not_tried_with_clips() -> None:
    with running(Behaviour(timeless=True)) as url:
        from evaluator.judge.client import HttpJudge, HttpOptions

        stills = HttpJudge.connect(url, HttpOptions(modalities=frozenset({Modality.TEXT, Modality.IMAGE})))
        clips = HttpJudge.connect(url, HttpOptions())
        assert examine(stills, questions=4).ok
        assert not examine(clips, questions=4).ok
        stills.close()
        clips.close()


def test_the_list_says_who_judges_what(cli: Cli) -> None:  # noqa: F811
    entries = dict(one.split("  ", 1) for one in cli("list", "covebench").out.split("\n  ↑ ")[1:])
    assert f"needs {MODEL}, which no other judge replaces: --judge-for {MODEL}=URL" in entries["vqr"]
    assert "needs a judge" in entries["uas"]
    assert "refined by a judge where there is one" in entries["src"]
    assert "judge" not in entries["msm"]
