"""SRC in a run, with files that honour the contracts of its three models: scores, skips, what the judge decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from evaluator.judge.ledger import read_records
from evaluator.judge.record import Call
from evaluator.judge.types import Modality
from tests.judge.fake_server import Behaviour, running
from tests.runner.clips import clip
from tests.suites.covebench.onnx_files import embedder, mount
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

PROMPTS = tuple(f"Paint wall number {number} red." for number in range(6))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An edit and the source itself as an edit, each with several instructions."""
    folder = tmp_path_factory.mktemp("src")
    for seed, name in enumerate(("source", "edit")):
        clip(folder / f"{name}.mp4", seed=seed, frames=40, sound=False)
    shared = {"suite": "covebench", "source": "source.mp4", "data": {"task": 9001, "entities": ["red car"]}}
    cases = [{"id": f"edit-{at}", "video": "edit.mp4", "prompt": text, **shared} for at, text in enumerate(PROMPTS)]
    write(folder / "m.jsonl", [*cases, {"id": "same", "video": "source.mp4", **shared}])
    mount(folder / "models")
    return folder


def run(cli: Cli, folder: Path, out: Path, *more: object, models: Path | None = None) -> dict[str, Any]:  # noqa: F811
    chosen = ("--manifest", folder / "m.jsonl", "--metrics", "src", "--models", models or folder / "models")
    told = cli(*chosen, "--out", out, *more)
    assert told.code == 0, told.err
    return {str(one["case"]): one for one in records(out)}


@pytest.mark.parametrize("profile", ["paper", "compat", "strict"])
def test_without_a_judge_the_categories_decide_and_the_record_says_so(
    cli: Cli,  # noqa: F811
    folder: Path,
    tmp_path: Path,
    profile: str,
) -> None:
    rows = run(cli, folder, tmp_path, "--profile", profile)
    assert {row["status"] for row in rows.values()} == {"ok"}
    assert rows["same"]["value"] == pytest.approx(1.0)
    assert 0 < rows["edit-0"]["value"] < 1
    assert rows["edit-0"]["details"]["skip_rule"] == {"by": "categories", "why": "no judge was given"}
    assert [model["id"] for model in rows["same"]["models"]] == ["dinov2_small", "grounding_dino", "sam2"]


def tinted(path: Path, shift: int) -> Path:
    """A reddish clip that turns bluish by `shift` levels in its left half, where the fabricated detector looks."""
    grain = np.random.default_rng(0).integers(0, 12, (48, 64, 3))
    picture = grain + np.array([200, 60, 60])
    picture[:, :32] += np.array([-shift, 0, shift])
    with av.open(path, "w") as container:
        stream = container.add_stream("libx264", 25, options={"crf": "1"})
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv444p"
        for _ in range(30):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture.astype(np.uint8), "rgb24")))
        container.mux(stream.encode(None))
    return path


def test_the_more_a_thing_that_should_stay_changes_the_lower_the_score(cli: Cli, folder: Path, tmp_path: Path) -> None:  # noqa: F811
    shifts = (0, 30, 60, 90, 120)
    for shift in shifts:
        tinted(tmp_path / f"{shift}.mp4", shift)
    shared = {"suite": "covebench", "source": "0.mp4", "data": {"task": 9001, "entities": ["red car"]}}
    write(tmp_path / "m.jsonl", [{"id": str(shift), "video": f"{shift}.mp4", **shared} for shift in shifts])
    rows = run(cli, tmp_path, tmp_path / "out", models=folder / "models")
    values = [rows[str(shift)]["value"] for shift in shifts]
    assert values[0] == pytest.approx(1.0)
    assert values == sorted(values, reverse=True)
    assert values[-1] < 0.9


def test_a_judge_sorts_the_instructions(cli: Cli, folder: Path, tmp_path: Path) -> None:  # noqa: F811
    with running(Behaviour()) as url:
        rows = run(cli, folder, tmp_path / "live", "--judge-url", url)
    ledger = read_records(tmp_path / "live" / "judge.jsonl")
    calls = {one.item.split("/")[0]: one for one in ledger if isinstance(one, Call)}
    assert set(calls) == {f"edit-{at}" for at in range(len(PROMPTS))}  # without an instruction, nobody is asked
    for case, call in calls.items():
        assert {part["kind"] for turn in call.request["turns"] for part in turn["parts"]} == {Modality.TEXT}
        row = rows[case]
        if call.answer.label == "Yes":
            assert (row["status"], row["reason"]["code"]) == ("skipped", "filtered")
            assert call.keys.key in row["reason"]["message"]
        else:
            assert row["status"] == "ok"
            rule = row["details"]["skip_rule"]
            assert (rule["by"], rule["label"], rule["ledger_key"]) == ("categories and judge", "No", call.keys.key)
    assert {row["status"] for row in rows.values()} == {"ok", "skipped"}
    assert rows["same"]["details"]["skip_rule"]["why"] == "the case has no instruction"
    assert "judge" in {model["id"] for model in rows["same"]["models"]}
    again = run(cli, folder, tmp_path / "replay", "--judge-replay", tmp_path / "live" / "judge.jsonl")
    assert again == rows


@pytest.mark.parametrize(
    ("gone", "says"),
    [
        ("grounding_dino/grounding_dino.onnx", "grounding_dino"),
        ("sam2/sam2_step.onnx", "sam2"),
        ("dinov2_small/dinov2_small.onnx", "dinov2_small"),
    ],
)
def test_one_model_less_is_unavailable_and_nobody_is_asked(
    cli: Cli,  # noqa: F811
    folder: Path,
    tmp_path: Path,
    gone: str,
    says: str,
) -> None:
    mount(tmp_path / "models")
    (tmp_path / "models" / gone).unlink()
    with running(Behaviour()) as url:
        rows = run(cli, folder, tmp_path / "out", "--judge-url", url, models=tmp_path / "models")
    assert {row["reason"]["code"] for row in rows.values()} == {"unavailable"}
    assert all(says in row["reason"]["message"] for row in rows.values())
    header = json.loads((tmp_path / "out" / "run.json").read_text())
    assert header["judge_calls"].get("asked", 0) == 0


def test_a_file_that_breaks_the_contract_is_refused(cli: Cli, folder: Path, tmp_path: Path) -> None:  # noqa: F811
    mount(tmp_path / "models")
    embedder("vector").write(tmp_path / "models" / "dinov2_small" / "dinov2_small.onnx")
    chosen = ("--manifest", folder / "m.jsonl", "--metrics", "src", "--limit", 1, "--models", tmp_path / "models")
    told = cli(*chosen, "--out", tmp_path / "out")
    assert told.code == 4
    assert "dinov2_small.onnx" in told.err
    assert "embedding" in told.err
