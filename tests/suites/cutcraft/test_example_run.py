"""The worked example through the command line: a real file, a judge over HTTP, and the commands that read its run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from evaluator.judge.server import Server
from evaluator.media.types import U8
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.suites.cutcraft import example
from evaluator.suites.cutcraft.lab import clip
from evaluator.suites.cutcraft.lab.recipe import RATE, SOUND_RATE
from evaluator.suites.cutcraft.lab.shots import SHOTS, filmed, load
from evaluator.suites.cutcraft.screen_text import READ
from export.build import prepared
from tests.conftest import ROOT
from tests.judge.tiny.fixtures import tiny_checkpoint, tiny_server  # noqa: F401  (fixtures)
from tests.suites.cutcraft.cases import QUESTIONS, case, cut, shot
from tests.suites.cutcraft.scenes import band
from tests.test_cli import Cli, cli, records  # noqa: F401  (fixture)

MANIFESTS = ROOT / "manifests"
SECONDS, CUT = 3.2, 1.6
"""Of the two short clips that trade their scripts."""


def demo_shots() -> dict[str, U8]:
    """Those of the example."""
    if not (MANIFESTS / "demo" / "bikes.mp4").is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    return {
        name: load(MANIFESTS / "demo" / SHOTS[name].file, SHOTS[name].first, SHOTS[name].end) for name in example.SHOTS
    }


@pytest.fixture
def manifest(tmp_path: Path, models: SessionSource) -> Path:
    """The worked example, made here."""
    shutil.copytree(MANIFESTS / "cutcraft", tmp_path / "cutcraft")
    return example.write(tmp_path, demo_shots())


@pytest.fixture
def pair(tmp_path: Path, models: SessionSource) -> Path:
    """Two short clips: a hard cut with an L-cut of 0.5 s, and a dissolve of 0.6 s with a straight cut of sound."""
    films = [filmed(demo_shots()[name], round(SECONDS * RATE), 0.0) for name in ("bus", "rabbit")]
    time = np.arange(round(SECONDS * RATE)) / RATE
    lines = []
    for number, (optical, relation, seconds, late) in enumerate(
        (("hard cut", "L-cut", 0.0, 0.5), ("dissolve", "straight cut", 0.6, 0.0)), 1
    ):
        share = np.clip((time - CUT) / seconds + 0.5, 0, 1) if seconds else (time >= CUT).astype(float)
        frames = films[0] + share[:, None, None, None] * (films[1].astype(np.float64) - films[0])
        low, high = band(200, 900, SECONDS, 1, SOUND_RATE), band(1500, 5000, SECONDS, 2, SOUND_RATE)
        heard = np.arange(len(low)) / SOUND_RATE
        sound = low * (heard < CUT + late) + high * (heard >= CUT + late)
        clip.write(tmp_path / f"{number}.mp4", np.rint(frames).astype(np.uint8), sound)
        change = cut("logical cut (causal transition)", optical, relation)
        shots = (shot(1, 0, CUT, transition_to_next=change), shot(2, CUT, SECONDS))
        one = case(*shots, prompt_id=number)
        lines.append(
            {
                "id": f"{number}/lab",
                "suite": "cutcraft",
                "system": "lab",
                "video": f"{number}.mp4",
                "prompt": one.prompt,
                "shots": list(shots),
                "checklist": QUESTIONS,
                "data": dict(one.data),
            }
        )
    path = tmp_path / "pair.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_judged_run_and_what_reads_it(cli: Cli, manifest: Path, tiny_server: Server, tmp_path: Path) -> None:  # noqa: F811
    """The tiny judge has seen stripes only: that it is asked and answers is shown here, not what it says."""
    run = tmp_path / "run"
    told = cli("--manifest", manifest, "--out", run, "--metrics", "a2,b3,d2", "--judge-url", tiny_server.address.url)
    assert told.code == 0, told.err
    found: dict[Any, Any] = {record["metric"]: record for record in records(run)}
    assert {record["status"] for record in found.values()} == {"ok"}
    assert all(found[metric]["details"]["calls"] for metric in ("a2", "b3", "d2"))  # d2 by the alignment
    assert found["b3"]["details"]["unknown"] == ["funny"]  # YAMNet has no such class
    assert [item["found"] for item in found["d2"]["details"]["transitions"]] == ["hard_cut", "dissolve"]
    assert "Transitions one by one" in told.err  # the table names each one, what was asked and what was found
    assert "9101/lab" in told.err

    told = cli("cutcraft", "sensitivity", run, "--manifest", manifest)
    assert told.code == 0, told.err
    rows = {row.rsplit(maxsplit=2)[0]: row.split()[-1] for row in told.out.splitlines() if row.startswith("A")}
    assert rows["A2 grades 1.0/0.5/0.1/0.0"] == rows["A3 lambda 0.3"] == rows["A3 weight of the counterfactual 0.5"]
    assert rows["A2 grades 1.0/0.7/0.4/0.1"] >= rows["A2 grades 1.0/0.5/0.1/0.0"]
    told = cli("cutcraft", "counters", run)
    assert told.code == 0, told.err
    assert "calls of the judge" in told.out


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["paper", "compat"])
def test_every_dimension_is_judged_and_replayed_byte_for_byte(
    cli: Cli,  # noqa: F811
    pair: Path,
    tiny_server: Server,  # noqa: F811
    profile: str,
    tmp_path: Path,
) -> None:
    """All sixteen, every question over a socket; then the same from the ledger, with no judge at all."""
    first, again = tmp_path / "first", tmp_path / "again"
    common = ("--manifest", pair, "--limit", "1", "--profile", profile, "--workers", "1", "--no-report")
    told = cli(*common, "--out", first, "--judge-url", tiny_server.address.url)
    assert told.code == 0, told.err
    found: dict[Any, Any] = {record["metric"]: record for record in records(first)}
    assert len(found) == 16
    skipped = {record["reason"]["code"] for record in found.values() if record["status"] != "ok"}
    assert skipped <= {"unavailable"}  # a model that is not mounted
    asked = [item for record in found.values() for item in record["details"].get("items", ())]
    assert {item["id"].split("/")[0] for item in asked} >= {"A2", "A3", "B3", "C1", "D1", "E1", "E3"}
    assert {item["status"] for item in asked} == {"ok"}
    told = cli(*common, "--out", again, "--judge-replay", first / "judge.jsonl")
    assert told.code == 0, told.err
    assert (again / "scores.jsonl").read_bytes() == (first / "scores.jsonl").read_bytes()


@pytest.mark.slow
def test_words_on_screen_reach_the_judge_as_evidence(
    cli: Cli,  # noqa: F811
    pair: Path,
    tiny_server: Server,  # noqa: F811
    tmp_path: Path,
    models: SessionSource,
) -> None:
    """A title card over the first shot, read where the case asks for it; without the model the record says so."""
    frames = filmed(demo_shots()["bus"], round(SECONDS * RATE), 0.0).copy()
    for frame in frames[: round(CUT * RATE)]:
        cv2.putText(frame, "PARIS 1912", (20, 100), cv2.FONT_HERSHEY_DUPLEX, 1.0, (255, 255, 255), 2, cv2.LINE_AA)
    clip.write(tmp_path / "1.mp4", frames, band(200, 900, SECONDS, 1, SOUND_RATE))
    line = json.loads(pair.read_text().splitlines()[0])
    line["data"]["text_fps"] = 1.0
    pair.write_text(json.dumps(line) + "\n")
    assert isinstance(models, Store)
    common = ("--manifest", pair, "--metrics", "a2", "--no-report", "--judge-url", tiny_server.address.url)
    told = cli(*common, "--out", tmp_path / "run")
    assert told.code == 0, told.err
    details = next(iter(records(tmp_path / "run")))["details"]
    if not prepared(models, models.lock["ppocr_v6"]):
        assert details["screen_text"]["status"] == "unavailable"
        pytest.skip("only prepared where asked for: python -m export build ppocr_v6")
    assert (details["screen_text"]["status"], details["screen_text"]["frames"]) == ("read", 4)
    (asked,) = (item for item in details["items"] if item["id"] == "A2/question")
    assert '"PARIS 1912" 0.00-1.00 s' in asked["measured"][READ]


def test_dimensions_drop_with_other_scripts(cli: Cli, pair: Path, tmp_path: Path) -> None:  # noqa: F811
    own, other, shifted = tmp_path / "own", tmp_path / "other", tmp_path / "shifted.jsonl"
    signals = ("--metrics", "d2,d3,f2", "--media-root", tmp_path)
    assert cli("--manifest", pair, "--out", own, *signals).code == 0
    assert cli("cutcraft", "displace", pair, "--by", "1", "--out", shifted).code == 0
    assert cli("--manifest", shifted, "--out", other, *signals).code == 0
    told = cli(
        "cutcraft", "displacement", own, other, "--manifest", pair, "--displaced", shifted, "--media-root", tmp_path
    )
    assert told.code == 0, told.err
    change = {row.split()[0]: float(row.split()[-1]) for row in told.out.splitlines() if row[:2] in {"D2", "D3", "F2"}}
    assert change["F2"] == 0.0
    assert all(change[name] < 0.0 for name in ("D2", "D3"))


def test_a_shift_that_changes_nothing_is_refused(cli: Cli, pair: Path, tmp_path: Path) -> None:  # noqa: F811
    told = cli("cutcraft", "displace", pair, "--by", "2", "--out", tmp_path / "x.jsonl")
    assert told.code == 2
    assert "changes nothing" in told.err
