"""The automated half in a run: what is scored here, what is unavailable and says so, who may answer for VQR."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evaluator.suites.covebench import SUITE
from evaluator.suites.covebench.automated import AUTOMATED, VARIANTS
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

VQR = Behaviour(model="VisualQuality-R1-7B", text="The picture is fair.\n<answer>3.25</answer>")


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    for seed, name in enumerate(("source", "edit")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=20, sound=False)
    tasks = {"other": (9001, "edit"), "same": (9002, "source"), "left-out": (1, "edit")}
    cases = [
        {"id": name, "suite": "covebench", "video": f"{video}.mp4", "source": "source.mp4", "data": {"task": task}}
        for name, (task, video) in tasks.items()
    ]
    write(tmp_path / "m.jsonl", cases)
    return tmp_path / "m.jsonl"


def found(folder: Path) -> dict[tuple[str, str], Any]:
    return {(str(item["case"]), str(item["metric"])): item for item in records(folder)}


def test_every_metric_is_in_the_suite_once_and_profiles_keep_their_ids() -> None:
    ids = [metric.id for metric in AUTOMATED]
    assert ids == ["aes", "tq", "msm", "ssim", "mf", "vqr", "src", "aes_kf"]  # the paper's order, then ours
    assert [metric.id for metric in SUITE.metrics if metric.id in ids] == ids
    for variant in VARIANTS.values():
        assert {name: metric.id for name, metric in variant.items()} == {name: name for name in variant}


def test_without_models_and_a_judge_what_can_be_scored_is_scored(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    names = ",".join(metric.id for metric in AUTOMATED)
    told = cli("--manifest", manifest, "--out", out, "--metrics", names)
    assert told.code == 0, told.err
    rows = found(out)
    for name in ("msm", "ssim", "mf"):
        assert rows["other", name]["status"] == "ok", rows["other", name]
    assert [model["id"] for model in rows["other", "mf"]["models"]] == ["lk_tracks"]
    assert rows["other", "mf"]["models"][0]["stands_in_for"] == "CoTracker3"
    assert rows["same", "ssim"]["value"] == 1.0
    assert rows["same", "mf"]["value"] > rows["other", "mf"]["value"]
    reasons = {name: rows["other", name]["reason"]["code"] for name in ("aes", "aes_kf", "tq", "src", "vqr")}
    assert reasons == {**dict.fromkeys(("aes", "aes_kf", "tq", "src"), "unavailable"), "vqr": "no_judge"}
    assert "dover_technical.onnx" in rows["other", "tq"]["reason"]["message"]
    left = {name: rows["left-out", name]["reason"] for name in ("ssim", "mf")}
    assert {name: reason["code"] for name, reason in left.items()} == {"ssim": "filtered", "mf": "filtered"}
    assert rows["left-out", "msm"]["status"] == "ok"  # task 1 is not on the list of MSM


def test_another_judge_does_not_answer_for_visualquality(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    out = tmp_path / "out"
    with running(Behaviour()) as url:
        told = cli("--manifest", manifest, "--out", out, "--metrics", "vqr", "--judge-url", url)
    assert told.code == 0, told.err
    reason = found(out)["other", "vqr"]["reason"]
    assert reason["code"] == "no_judge"
    assert "only VisualQuality-R1 may answer this, and the judge is judge" in reason["message"]


def test_visualquality_rates_and_is_replayed(cli: Cli, manifest: Path, tmp_path: Path) -> None:  # noqa: F811
    arguments = ("--manifest", manifest, "--metrics", "vqr", "--limit", 1)
    with running(VQR) as url:
        told = cli(*arguments, "--out", tmp_path / "live", "--judge-url", url)
    assert told.code == 0, told.err
    row = found(tmp_path / "live")["other", "vqr"]
    assert row["value"] == 3.25
    assert row["details"]["per_frame"] == [3.25] * 10
    assert [model["id"] for model in row["models"]] == ["VisualQuality-R1-7B"]
    asked = [body for path, _, body in VQR.seen if path.endswith("completions") and body["max_tokens"] == 512]
    assert len(asked) == 10
    told = cli(*arguments, "--out", tmp_path / "again", "--judge-replay", tmp_path / "live" / "judge.jsonl")
    assert told.code == 0, told.err
    live, again = ((tmp_path / name / "scores.jsonl").read_bytes() for name in ("live", "again"))
    assert again == live
