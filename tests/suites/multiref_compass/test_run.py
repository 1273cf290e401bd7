"""A run with pictures, a clip and a sound-only file as references; the importer; the example; the commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image

from evaluator.errors import UsageError
from evaluator.manifest import load
from evaluator.suites import suites
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.layout import importer
from tests.conftest import ROOT
from tests.runner.clips import clip
from tests.suites.multiref_compass.cases import PROMPT
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("multiref")
    for seed, name in enumerate(("x", "y")):
        clip(folder / f"{name}.mp4", seed=seed, frames=30)
    rng = np.random.default_rng(0)
    Image.fromarray(rng.integers(0, 256, (64, 64, 3), np.uint8)).save(folder / "mia.png")
    Image.new("RGB", (80, 60), (200, 30, 30)).save(folder / "robot.jpg")
    soundfile.write(folder / "voice.wav", 0.2 * rng.standard_normal(32_000), 16_000)
    return folder


def a_record(**more: Any) -> dict[str, Any]:
    return {
        "sample_id": "s",
        "board": "B4",
        "entities": [
            {"entity_id": "mia", "kind": "human", "name": "Mia", "slot": 1, "views": ["mia.png", "x.mp4"]},
            {"entity_id": "robot", "kind": "object", "name": "a red robot", "slot": 2, "views": ["robot.jpg"]},
        ],
        "ref_video": "y.mp4",
        "ref_audio": "voice.wav",
        "prompt": {"integrated": PROMPT},
        "meta": {"speech": "monologue"},
        "outputs": {"x": "x.mp4", "y": "y.mp4"},
        **more,
    }


def lines(root: Path, *found: dict[str, Any], system: str = "*", **settings: str) -> Any:
    (root / "samples.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    return importer(root, system, settings)


def test_pictures_clips_and_sounds_are_references(cli: Cli, root: Path, tmp_path: Path) -> None:  # noqa: F811
    write(root / "m.jsonl", list(lines(root, a_record()).lines))
    told = cli("--manifest", root / "m.jsonl", "--out", tmp_path / "out", "--metrics", "ef_raw,ts,sca_strict,dp")
    assert told.code == 0, told.err
    found = {(one["case"], one["metric"]): one for one in records(tmp_path / "out")}
    fidelity = found["s/x", "ef_raw"]
    assert fidelity["status"] == "ok", fidelity["reason"]
    assert [one["entity"] for one in fidelity["details"]["entities"]] == ["mia", "robot"]  # type: ignore[index]
    assert any(model["stands_in_for"] for model in fidelity["models"])  # type: ignore[attr-defined]
    voice = found["s/x", "ts"]  # noise is no voice: the sound-only file was heard, and says so
    assert (voice["status"], voice["reason"]["code"]) == ("skipped", "filtered")  # type: ignore[index]
    assert "speech is too little" in voice["reason"]["message"]  # type: ignore[index]
    assert found["s/x", "sca_strict"]["reason"]["message"].startswith("router:")  # type: ignore[index]
    assert found["s/x", "dp"]["reason"]["code"] == "no_judge"  # type: ignore[index]


def test_the_order_of_systems_and_the_absence_of_another_change_no_score(
    cli: Cli,  # noqa: F811
    root: Path,
    tmp_path: Path,
) -> None:
    """Whom a system is compared with, and in which order, is no part of its score."""
    both = list(lines(root, a_record()).lines)

    def scored(name: str, chosen: list[Any]) -> dict[tuple[object, object], object]:
        write(root / f"{name}.jsonl", chosen)
        told = cli("--manifest", root / f"{name}.jsonl", "--out", tmp_path / name, "--metrics", "ef_raw,sls,ts")
        assert told.code == 0, told.err
        return {(one["case"], one["metric"]): one for one in records(tmp_path / name)}

    first = scored("first", both)
    assert scored("turned", both[::-1]) == first
    assert scored("alone", both[1:]).items() <= first.items()


def test_references_that_moved_to_another_folder_are_the_same_case(cli: Cli, root: Path, tmp_path: Path) -> None:  # noqa: F811
    """What a metric reads of its references is what is said of them, not where their files lie."""
    import shutil

    moved = tmp_path / "moved"
    shutil.copytree(root, moved)
    write(root / "m.jsonl", list(lines(root, a_record(), system="x").lines))
    shutil.copy(root / "m.jsonl", moved / "m.jsonl")
    told = [cli("--manifest", place / "m.jsonl", "--metrics", "ts", "--dry-run", "--json") for place in (root, moved)]
    first, second = (json.loads(one.out) for one in told)
    assert first == second


def test_an_output_that_is_not_there_is_a_problem_of_that_system_only(root: Path) -> None:
    made = lines(root, a_record(outputs={"x": "x.mp4", "y": "gone.mp4"}))
    assert [line["id"] for line in made.lines] == ["s/x"]
    assert made.problems == ("samples.jsonl:1: outputs.y: expected a file, found none at gone.mp4",)
    broken = lines(root, a_record(board="B9"), a_record(ref_audio="gone.wav"), {"sample_id": "t"})
    assert (broken.lines, len(broken.problems)) == ((), 3)
    with pytest.raises(UsageError, match="colour"):
        lines(root, a_record(), colour="red")


def test_the_worked_example_is_what_its_records_give() -> None:
    if not (ROOT / "manifests" / "demo" / "untouched.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    path = ROOT / "manifests" / "multiref_compass.example.jsonl"
    known = {name: suite.data for name, suite in suites().items()}
    cases = load(path, suites=known, examine={"multiref_compass": SUITE.examine})
    made = importer(ROOT / "manifests", "*", {"records": "multiref_compass/samples.jsonl"})
    assert made.problems == ()
    assert [json.loads(line) for line in path.read_text().splitlines()] == [dict(line) for line in made.lines]
    assert {case.category for case in cases} == {"B1", "B2", "B4"}


def test_a_second_look_needs_a_judge_and_a_run_of_the_manifest(cli: Cli, root: Path, tmp_path: Path) -> None:  # noqa: F811
    write(root / "m.jsonl", list(lines(root, a_record(), system="x").lines))
    out = tmp_path / "out"
    assert cli("--manifest", root / "m.jsonl", "--out", out, "--metrics", "aq").code == 0
    assert cli("rejudge", out, "--manifest", root / "m.jsonl").code == 2
    assert cli("stability", out).code == 2
    assert cli("stability", out, out).code == 0
    (tmp_path / "empty").mkdir()
    assert cli("stability", out, tmp_path / "empty").code == 2
