"""The command line: what works, what is refused, with which exit code and which words."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from evaluator.cli import command
from tests.conftest import ROOT
from tests.runner.clips import clip

CHEAP = "ssim,msm,audio_similarity,loudness,silence"
"""Metrics that need no model."""


@dataclass
class Told:
    code: int
    out: str
    err: str


@dataclass
class Cli:
    """Runs the command line in this process."""

    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> Told:
        with pytest.raises(SystemExit) as end:
            command([str(argument) for argument in arguments])
        told = self.capture.readouterr()
        assert isinstance(end.value.code, int)
        return Told(end.value.code, told.out, told.err)


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    for name in [name for name in os.environ if name.startswith("EVALUATOR_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("EVALUATOR_CACHE", str(tmp_path / "cache"))
    return Cli(capfd)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manifest")
    for seed, name in enumerate(("source", "one", "two")):
        clip(folder / f"{name}.mp4", seed=seed)
    (folder / "broken.mp4").write_bytes(b"no film at all" * 99)
    good = [
        {"id": name, "suite": "core", "video": f"{name}.mp4", "source": "source.mp4", "system": name}
        for name in ("one", "two")
    ]
    bad = {"id": "bad", "suite": "core", "video": "broken.mp4", "source": "source.mp4", "system": "bad"}
    write(folder / "good.jsonl", good)
    write(folder / "mixed.jsonl", [*good, bad])
    write(folder / "wrong.jsonl", [{"id": "x", "suite": "cor", "vidoe": "one.mp4"}])
    return folder


def write(path: Path, cases: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(case) + "\n" for case in cases))


def records(out: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (out / "scores.jsonl").read_text().splitlines()]


def test_a_run_needs_no_subcommand(cli: Cli, folder: Path, tmp_path: Path) -> None:
    told = cli("--manifest", folder / "good.jsonl", "--out", tmp_path / "out", "--metrics", CHEAP)
    assert told.code == 0
    assert told.out == ""
    assert "10 scores: 10 ok, 0 skipped, 0 failed" in told.err
    found = records(tmp_path / "out")
    assert [(item["case"], item["metric"]) for item in found[:2]] == [("one", "msm"), ("one", "loudness")]
    header = json.loads((tmp_path / "out" / "run.json").read_text())
    assert header["status"] == "success"
    assert header["telemetry"]["counters"]["decode_passes"] == 3
    assert {card["id"] for card in header["metrics"]} == set(CHEAP.split(","))
    assert all(card["paper"] for card in header["metrics"])


def test_a_second_call_does_nothing_again(cli: Cli, folder: Path, tmp_path: Path) -> None:
    arguments = ("--manifest", folder / "good.jsonl", "--out", tmp_path, "--metrics", CHEAP)
    cli(*arguments)
    before = (tmp_path / "scores.jsonl").read_bytes()
    told = cli(*arguments)
    assert "10 ok, 0 skipped, 0 failed (10 from an earlier run)" in told.err
    assert (tmp_path / "scores.jsonl").read_bytes() == before
    assert "decode_passes" not in json.loads((tmp_path / "run.json").read_text())["telemetry"]["counters"]


def test_a_changed_clip_is_scored_again_and_alone(cli: Cli, tmp_path: Path) -> None:
    for seed, name in enumerate(("one", "two")):
        clip(tmp_path / f"{name}.mp4", seed=seed)
    write(tmp_path / "m.jsonl", [{"id": n, "suite": "core", "video": f"{n}.mp4"} for n in ("one", "two")])
    arguments = ("--manifest", tmp_path / "m.jsonl", "--out", tmp_path / "out", "--metrics", "loudness")
    cli(*arguments)
    old = records(tmp_path / "out")
    clip(tmp_path / "two.mp4", seed=1, level=0.03)
    assert "(1 from an earlier run)" in cli(*arguments).err
    new = records(tmp_path / "out")
    assert new[0] == old[0]
    assert new[1]["value"] < old[1]["value"] - 15  # type: ignore[operator]


def test_a_broken_clip_gives_exit_code_3_and_the_others_their_scores(cli: Cli, folder: Path, tmp_path: Path) -> None:
    told = cli("--manifest", folder / "mixed.jsonl", "--out", tmp_path, "--metrics", CHEAP)
    assert told.code == 3
    assert "broken.mp4" in told.err
    statuses = {(item["case"], item["status"]) for item in records(tmp_path)}
    assert statuses == {("one", "ok"), ("two", "ok"), ("bad", "failed")}
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "partial"


def test_check_finds_it_before_a_run(cli: Cli, folder: Path) -> None:
    told = cli("check", "--manifest", folder / "mixed.jsonl")
    assert told.code == 2
    assert "mixed.jsonl:3: video" in told.err
    assert cli("check", "--manifest", folder / "good.jsonl").code == 0


def test_manifest_problems_are_listed_together(cli: Cli, folder: Path, tmp_path: Path) -> None:
    told = cli("--manifest", folder / "wrong.jsonl", "--out", tmp_path / "out")
    assert told.code == 2
    for words in ("wrong.jsonl:1", "vidoe", "video", "core"):
        assert words in told.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--metrics", "sism"], "did you mean ssim?"),
        (["--profile", "loose"], "suite core has paper"),
        (["--suite", "cutcraft"], "no case of the manifest belongs to it"),
        (["--shard", "3/2"], "expected i/n with 1 <= i <= n"),
        (["--shard", "x"], "expected i/n"),
        (["--limit", "0"], "limit"),
        (["--models", "/nowhere/at/all"], "does not exist"),
        (["--no-such-flag"], "No such option"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_says_what_is_right(
    cli: Cli, folder: Path, tmp_path: Path, arguments: list[str], words: str
) -> None:
    told = cli("--manifest", folder / "good.jsonl", "--out", tmp_path / "out", *arguments)
    assert told.code == 2
    assert words in told.err
    assert "Traceback" not in told.err


def test_options_come_from_the_environment_too(
    cli: Cli, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATOR_MANIFEST", str(folder / "good.jsonl"))
    monkeypatch.setenv("EVALUATOR_METRICS", "ssim")
    monkeypatch.setenv("EVALUATOR_OUT", str(tmp_path))
    monkeypatch.setenv("EVALUATOR_LIMIT", "1")
    assert cli("run", "-q").code == 0
    assert [(item["case"], item["metric"]) for item in records(tmp_path)] == [("one", "ssim")]


def test_a_dry_run_leaves_nothing(cli: Cli, folder: Path, tmp_path: Path) -> None:
    told = cli("--manifest", folder / "good.jsonl", "--out", tmp_path / "out", "--metrics", CHEAP, "--dry-run")
    assert "would compute 10 scores of 2 cases from 3 files" in told.err
    assert not (tmp_path / "out").exists()


def test_a_folder_with_other_scores_is_not_overwritten(cli: Cli, folder: Path, tmp_path: Path) -> None:
    arguments = ("--manifest", folder / "good.jsonl", "--out", tmp_path)
    cli(*arguments, "--metrics", "ssim,msm")
    before = (tmp_path / "scores.jsonl").read_bytes()
    told = cli(*arguments, "--metrics", "ssim")
    assert told.code == 2
    assert "choose another --out to keep them, or --fresh" in told.err
    assert (tmp_path / "scores.jsonl").read_bytes() == before
    assert cli(*arguments, "--metrics", "ssim", "--fresh").code == 0
    assert len(records(tmp_path)) == 2


def test_one_of_a_thing_is_not_several(cli: Cli, folder: Path, tmp_path: Path) -> None:
    write(tmp_path / "m.jsonl", [{"id": "one", "suite": "core", "video": "one.mp4"}])
    told = cli("check", "--manifest", tmp_path / "m.jsonl", "--media-root", folder)
    assert told.err == "1 clip (1 with sound, 0 without), 0 sounds, 0 images; 30 frames, 1.2 s\n0 problems\n"


def test_shards_merge_to_the_same_bytes(cli: Cli, folder: Path, tmp_path: Path) -> None:
    whole, joined = tmp_path / "whole", tmp_path / "joined"
    manifest = tmp_path / "m.jsonl"
    cases = [{"id": n, "suite": "core", "video": f"{n}.mp4"} for n in ("one", "two", "source", "broken")]
    write(manifest, cases)
    common = ("--manifest", manifest, "--media-root", folder, "--metrics", CHEAP)
    cli(*common, "--out", whole)
    parts = [tmp_path / str(index) for index in (1, 2, 3)]
    for index, part in enumerate(parts, 1):
        cli(*common, "--out", part, "--shard", f"{index}/3")
    told = cli("merge", "--manifest", manifest, "--media-root", folder, "--out", joined, *reversed(parts))
    assert told.code == 3
    assert (joined / "scores.jsonl").read_bytes() == (whole / "scores.jsonl").read_bytes()
    assert (joined / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()
    header = json.loads((joined / "run.json").read_text())
    assert {card["id"] for card in header["metrics"]} == set(CHEAP.split(","))
    assert [part["shard"] for part in header["parts"]] == ["3/3", "2/3", "1/3"]
    assert sum(header["counts"].values()) == len(records(whole))
    assert header["telemetry"] is None
    assert header["options"]["shard"] == [1, 1]
    told_of = (joined / "metrics.prom").read_text(), (whole / "metrics.prom").read_text()
    means = [{line for line in text.splitlines() if line.startswith("evaluator_score")} for text in told_of]
    assert means[0] == means[1] != set()
    assert 'evaluator_run_status{status="partial"} 1.0' in told_of[0].splitlines()
    onto_itself = cli("merge", "--manifest", manifest, "--media-root", folder, "--out", parts[0], *parts)
    assert onto_itself.code == 2
    assert "is one of the parts" in onto_itself.err
    left_out = cli("merge", "--manifest", manifest, "--media-root", folder, "--out", tmp_path / "j2", *parts[:2])
    assert left_out.code == 3
    assert "was a shard left out?" in left_out.err


def test_parts_that_do_not_belong_together_are_refused(cli: Cli, folder: Path, tmp_path: Path) -> None:
    cli("--manifest", folder / "good.jsonl", "--out", tmp_path / "a", "--metrics", "ssim", "--shard", "1/1")
    other = cli("merge", "--manifest", folder / "mixed.jsonl", "--out", tmp_path / "j", tmp_path / "a")
    assert other.code == 2
    assert "scored another manifest" in other.err
    (tmp_path / "empty").mkdir()
    assert (
        "no run.json"
        in cli("merge", "--manifest", folder / "good.jsonl", "--out", tmp_path / "j", tmp_path / "empty").err
    )
    header = json.loads((tmp_path / "a" / "run.json").read_text())
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "scores.jsonl").write_bytes((tmp_path / "a" / "scores.jsonl").read_bytes())
    (tmp_path / "b" / "run.json").write_text(json.dumps({**header, "profile": "compat"}))
    differs = cli("merge", "--manifest", folder / "good.jsonl", "--out", tmp_path / "j", tmp_path / "a", tmp_path / "b")
    assert differs.code == 2
    assert "profile differs" in differs.err
    other_card = [{**header["metrics"][0], "version": 99}]
    (tmp_path / "b" / "run.json").write_text(json.dumps({**header, "metrics": other_card}))
    card = cli("merge", "--manifest", folder / "good.jsonl", "--out", tmp_path / "j", tmp_path / "a", tmp_path / "b")
    assert card.code == 2
    assert "metrics differ for ssim" in card.err
    fewer = {**header, "options": {**header["options"], "metrics": ["ssim", "msm"]}}
    (tmp_path / "b" / "run.json").write_text(json.dumps(fewer))
    chosen = cli("merge", "--manifest", folder / "good.jsonl", "--out", tmp_path / "j", tmp_path / "a", tmp_path / "b")
    assert chosen.code == 2
    assert "--metrics differs" in chosen.err
    (tmp_path / "b" / "run.json").write_text(json.dumps({**header, "status": "started"}))
    killed = cli("merge", "--manifest", folder / "good.jsonl", "--out", tmp_path / "j", tmp_path / "a", tmp_path / "b")
    assert "run that shard again" in killed.err


def test_a_missing_reference_model_is_exit_code_4_when_it_is_required(
    cli: Cli, models: object, folder: Path, tmp_path: Path
) -> None:
    told = cli(
        "--manifest", folder / "good.jsonl", "--out", tmp_path, "--metrics", "motion_smoothness", "--require-reference"
    )
    assert told.code == 4
    assert "stands in for" in told.err


@pytest.mark.parametrize("metric", ["video_similarity", "lip_sync"])
def test_a_metric_that_is_itself_a_stand_in_is_not_taken_for_the_published_one(
    cli: Cli, folder: Path, tmp_path: Path, metric: str
) -> None:
    arguments = ("--manifest", folder / "good.jsonl", "--out", tmp_path, "--metrics", metric)
    told = cli(*arguments, "--require-reference")
    assert told.code == 4
    assert f"{metric} stands in for" in told.err


def test_a_missing_embedded_model_is_a_broken_installation_not_a_skip(
    cli: Cli, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALUATOR_STORE", str(tmp_path / "empty"))
    told = cli("--manifest", folder / "good.jsonl", "--out", tmp_path / "out", "--metrics", "shot_count")
    assert told.code == 4
    assert "./run.sh setup" in told.err
    assert cli("models", "verify").code == 4


def test_the_same_files_in_another_folder_give_the_same_bytes(cli: Cli, folder: Path, tmp_path: Path) -> None:
    """Failures and what is unavailable included: nothing in a record says where things lie."""
    other = tmp_path / "elsewhere"
    shutil.copytree(folder, other)
    metrics = f"{CHEAP},video_aesthetic"
    for root, out in ((folder, tmp_path / "a"), (other, tmp_path / "b")):
        cli("--manifest", root / "mixed.jsonl", "--out", out, "--metrics", metrics)
    scores = [(tmp_path / name / "scores.jsonl").read_bytes() for name in "ab"]
    assert scores[0] == scores[1]
    assert b"aesthetic_v25.onnx is mounted" in scores[0]
    assert str(folder).encode() not in scores[0]


def test_a_folder_whose_name_is_not_utf8_works(cli: Cli, folder: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(folder, odd)
    told = cli("--manifest", odd / "mixed.jsonl", "--out", odd / "out", "--metrics", "loudness")
    assert told.code == 3, told.err
    assert len(records(odd / "out")) == 3


def test_json_goes_to_stdout_and_words_to_stderr(cli: Cli, folder: Path, tmp_path: Path) -> None:
    told = cli("--manifest", folder / "good.jsonl", "--out", tmp_path, "--metrics", "ssim", "--json")
    assert json.loads(told.out)["rows"][0]["metric"] == "ssim"
    assert "ssim" in told.err
    assert {card["id"] for card in json.loads(cli("list", "core", "--json").out)["core"]} >= set(CHEAP.split(","))


def test_list_shows_direction_range_unit_and_source(cli: Cli) -> None:
    text = cli("list").out
    assert "↓ lpips" in text
    assert "AVE-Compass 4.9" in text
    assert cli("list", "nope").code == 2


def test_models_where_names_a_path_a_digest_and_an_origin(cli: Cli) -> None:
    text = cli("models", "where").out
    assert "nisqa.onnx" in text
    assert "from " in text
    assert "SHA-256" in text


def test_help_and_version(cli: Cli) -> None:
    text = cli("--help").out
    assert "Exit codes" in text
    assert all(name in text for name in ("check", "run", "list", "models", "merge"))
    assert cli("--version").out.startswith("evaluator ")


def test_the_module_runs_as_a_program(folder: Path, tmp_path: Path) -> None:
    arguments = ["--manifest", str(folder / "good.jsonl"), "--out", str(tmp_path), "--metrics", "silence"]
    done = subprocess.run(
        [sys.executable, "-m", "evaluator", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "silence" in done.stderr
