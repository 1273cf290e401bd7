"""From records to scores: the importer, matching inside a run, shards, and the curation filter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.commands_filter import judge
from evaluator.errors import ManifestError, UsageError
from evaluator.manifest import load
from evaluator.suites import suites
from evaluator.suites.avenue import SUITE
from evaluator.suites.avenue.layout import importer
from tests.conftest import ROOT
from tests.runner.clips import clip
from tests.suites.avenue.cases import record
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)


def a_record(**more: Any) -> dict[str, Any]:
    return {
        "case_id": "one",
        "scope": "A",
        "edit_type": "Sound Change",
        "instruction": "Let a bell ring.",
        "what_changed": "a bell rings",
        "source_video": "source.mp4",
        "outputs": {"x": "x.mp4", "y": "y.mp4"},
        **more,
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("avenue")
    clip(folder / "source.mp4", seed=0, frames=40)
    (folder / "x.mp4").write_bytes((folder / "source.mp4").read_bytes())
    clip(folder / "y.mp4", seed=1, frames=20)
    return folder


def lines(root: Path, *found: dict[str, Any], system: str = "*", **settings: str) -> Any:
    (root / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in found))
    return importer(root, system, settings)


def test_records_become_cases_of_every_system(root: Path) -> None:
    made = lines(root, a_record())
    assert [line["id"] for line in made.lines] == ["one/x", "one/y"]
    write(root / "m.jsonl", list(made.lines))
    cases = load(root / "m.jsonl", suites={"avenue": SUITE.data}, examine={"avenue": SUITE.examine})
    assert [case.system for case in cases] == ["x", "y"]
    assert [line["id"] for line in lines(root, a_record(), system="y").lines] == ["one/y"]


def test_pairwise_cases_name_their_rival(root: Path) -> None:
    made = lines(root, a_record(), rival="y")
    assert [line["id"] for line in made.lines] == ["one/x-against-y"]
    assert made.lines[0]["references"] == [{"kind": "video", "path": "y.mp4", "role": "rival", "entity": "y"}]


def test_what_is_wrong_with_a_record_is_said_and_costs_only_that_record(root: Path) -> None:
    wrong = [a_record(scope="D"), a_record(outputs={"x": "absent.mp4"}), {"case_id": "two"}, a_record(case_id="ok")]
    made = lines(root, *wrong, system="x")
    assert [line["id"] for line in made.lines] == ["ok/x"]
    assert [problem.split(":")[1] for problem in made.problems] == ["1", "2", "3"]
    with pytest.raises(UsageError, match="colour"):
        lines(root, a_record(), colour="red")


DATA = {"instance": "one", "scope": "A", "edit_type": "t", "what_changed": "x"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"source": None}, "source"),
        ({"prompt": " "}, "prompt"),
        ({"references": [{"kind": "video", "path": "y.mp4", "role": "rival", "entity": "x"}]}, "another system"),
        ({"references": [{"kind": "video", "path": "y.mp4", "role": "friend"}]}, "role rival"),
        ({"data": {**DATA, "subtype": "C1"}}, "scope C"),
        ({"data": {**DATA, "extra": 1}}, "known key"),
        ({"data": {**DATA, "trigger": {"modality": "audio", "description": "a bang"}}}, "leaves alone"),
    ],
)
def test_a_case_that_cannot_be_scored_is_refused(root: Path, change: dict[str, Any], says: str) -> None:
    line = {**lines(root, a_record(), system="x").lines[0], **change}
    write(root / "bad.jsonl", [{name: value for name, value in line.items() if value is not None}])
    with pytest.raises(ManifestError, match=says):
        load(root / "bad.jsonl", suites={"avenue": SUITE.data}, examine={"avenue": SUITE.examine})


def test_outputs_are_cut_to_the_shortest_in_every_shard(cli: Cli, root: Path, tmp_path: Path) -> None:  # noqa: F811
    """The byte copy is compared over 0.8 s because the other output ends there, also in a run without that output."""
    write(root / "m.jsonl", list(lines(root, a_record()).lines))
    common = ("--manifest", root / "m.jsonl", "--metrics", "trigger_f1,v_clip,lpips,clap")
    clips = {path: path.read_bytes() for path in root.glob("*.mp4")}
    told = cli(*common, "--out", tmp_path / "whole")
    assert told.code == 0, told.err
    assert {path: path.read_bytes() for path in root.glob("*.mp4")} == clips  # matched in the plan: no clip is written
    assert not [path for path in (tmp_path / "whole").rglob("*") if path.suffix in {".mp4", ".wav", ".mkv"}]
    found = {(one["case"], one["metric"]): one for one in records(tmp_path / "whole")}
    copy = found["one/x", "v_clip"]
    assert copy["value"] == pytest.approx(1, abs=1e-6)
    assert copy["details"]["systems"] == ["x", "y"]  # type: ignore[index]
    assert copy["details"]["seconds"] == pytest.approx(0.8, abs=0.1)  # type: ignore[index]
    assert found["one/x", "lpips"]["value"] == pytest.approx(0, abs=1e-6)
    assert found["one/x", "clap"]["value"] == pytest.approx(1, abs=1e-6)
    assert found["one/y", "v_clip"]["value"] < 1  # type: ignore[operator]
    write(root / "turned.jsonl", list(lines(root, a_record()).lines)[::-1])
    turned = ("--manifest", root / "turned.jsonl", "--metrics", "v_clip,clap", "--out", tmp_path / "turned")
    assert cli(*turned).code == 0
    assert records(tmp_path / "turned") == [  # the order of the systems changes no record
        found[one, metric] for one in ("one/y", "one/x") for metric in ("v_clip", "clap")
    ]
    assert cli(*common, "--out", tmp_path / "one", "--limit", "1").code == 0
    assert records(tmp_path / "one") == [one for one in records(tmp_path / "whole") if one["case"] == "one/x"]


def test_texts_sound_and_pictures_are_compared_by_marked_stand_ins(
    cli: Cli,  # noqa: F811
    root: Path,
    tmp_path: Path,
) -> None:
    target = {"audio": "a bell rings", "video": "a wall of grain"}
    write(root / "c.jsonl", list(lines(root, a_record(scope="C", target_prompt=target), system="x").lines))
    common = ("--manifest", root / "c.jsonl", "--metrics", "text_audio,text_video,audio_video")
    told = cli(*common, "--out", tmp_path / "out")
    assert told.code == 0, told.err
    found = {one["metric"]: one for one in records(tmp_path / "out")}
    published_models = {
        "text_audio": "LAION-CLAP with text",
        "text_video": "CLIP ViT-L/14 with text",
        "audio_video": "ImageBind",
    }
    for name, published in published_models.items():
        assert -1 <= found[name]["value"] <= 1  # type: ignore[operator]
        assert published in {model["stands_in_for"] for model in found[name]["models"]}  # type: ignore[attr-defined]
    boards = json.loads((tmp_path / "out" / "summary.json").read_text())["sections"]["avenue"]
    (table,) = [board for board in boards if board["id"] == "embedded_C"]
    assert table["columns"] == ["system", "ta", "tv", "av"]
    assert [cell and cell[-5:] for cell in table["rows"][0][1:]] == ["* (1)"] * 3
    assert cli(*common, "--out", tmp_path / "strict", "--require-reference").code == 4


def test_the_filter_writes_lines_as_they_were_and_decides_nothing_it_did_not_measure(
    cli: Cli,  # noqa: F811
    root: Path,
    tmp_path: Path,
) -> None:
    other = a_record(case_id="two", instruction="The bell stops ringing.")
    write(root / "m.jsonl", list(lines(root, a_record(), other, system="x").lines))
    told = cli("filter", "avenue", "--manifest", root / "m.jsonl", "--out", tmp_path)
    assert told.code == 4, told.err  # no ImageBind, no CLAP, no detector here
    assert (tmp_path / "undecided.jsonl").read_bytes() == (root / "m.jsonl").read_bytes()
    assert (tmp_path / "kept.jsonl").read_bytes() == b""
    report = json.loads((tmp_path / "filter.json").read_text())
    checks = report["cases"][0]["checks"]
    assert checks["curation_dynamics"]["passed"] is True
    assert checks["curation_av_correspondence"]["passed"] is None
    assert "imagebind" in checks["curation_av_correspondence"]["reason"]
    scene = checks["curation_scene_consistency"]  # measured, and not by CLIP
    assert (scene["value"] is None, scene["passed"]) == (False, None)
    assert "a stand-in for CLIP ViT-L/14" in scene["reason"]
    (corpus,) = report["instructions"]  # of the kept ones there is none
    assert (corpus["corpus"], corpus["prompts"]) == ("all", 2)
    assert 0.3 < corpus["cosine"] < 1  # two sentences about one bell, in a sentence embedding
    assert cli("filter", "core", "--manifest", root / "m.jsonl", "--out", tmp_path).code == 2


def test_one_failed_bound_drops_a_clip_and_all_must_pass() -> None:
    good = {bound.metric: 0.5 if bound.low is None else bound.low + 0.1 for bound in SUITE.bounds}

    def verdict(**change: float | None) -> str:
        scores = [record(name, value) for name, value in {**good, **change}.items()]
        return judge(SUITE.bounds, scores)[0].place

    assert verdict() == "kept"
    stood_in = [record(name, value, stand_in=name == "curation_scene_consistency") for name, value in good.items()]
    assert judge(SUITE.bounds, stood_in)[0].place == "undecided"
    empty = [record(bound.metric, None, stand_in=True) for bound in SUITE.bounds]
    assert not any("has measured" in why for _, _, why in judge(SUITE.bounds, empty)[0].checks.values())
    assert verdict(curation_dynamics=None) == "undecided"
    assert verdict(curation_dynamics=0.9) == "dropped"
    assert verdict(curation_dynamics=0.9, curation_persons=None) == "dropped"


def test_the_worked_example_is_what_its_records_give() -> None:
    path = ROOT / "manifests" / "avenue.example.jsonl"
    if not (ROOT / "manifests" / "demo" / "untouched.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    known = {name: suite.data for name, suite in suites().items()}
    cases = load(path, suites=known, examine={"avenue": SUITE.examine})
    made = importer(ROOT / "manifests", "*", {"records": "avenue/records.jsonl"})
    written = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["id"] for line in made.lines] == [line["id"] for line in written][: len(made.lines)]
    assert {case.data["scope"] for case in cases} == {"A", "B", "C"}
    assert any(case.references for case in cases)
    for profile in SUITE.profiles:
        for case in cases:
            assert SUITE.metrics_of(case, profile)
