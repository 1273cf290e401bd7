"""`evaluator ave-compass`: the reference's table, repeated runs, agreement with people, from folders of runs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from evaluator.errors import UsageError
from evaluator.runner.header import card
from evaluator.schema import SCHEMA_VERSION, encode
from evaluator.suites.ave_compass import SUITE, human_labels
from tests.suites.ave_compass.judging import case, score
from tests.suites.ave_compass.manifests import write_manifest
from tests.test_cli import Cli, cli  # noqa: F401  (fixture)

ITEMS = [{"id": "Q02", "modality": "video", "yes": True}, {"id": "Q03", "modality": "video", "yes": False}]


def run(folder: Path, intent: float) -> Path:
    """A folder as a run leaves it, with two cases."""
    folder.mkdir()
    lines = [
        encode(score(one, metric, value, details))
        for one in (case(None, "a"), case(None, "b"))
        for metric, value, details in (
            ("editing_intent", intent, {}),
            ("instruction_following", 0.5, {"items": ITEMS}),
            ("realism", 0.5, {"grades": {"AAS": 3}}),
        )
    ]
    (folder / "scores.jsonl").write_bytes(b"".join(lines))
    manifest = {"path": "m.jsonl", "sha256": "0" * 64, "cases": 2}
    cards = [card(metric) for metric in SUITE.metrics]
    header = {"schema": SCHEMA_VERSION, "status": "success", "manifest": manifest, "metrics": cards}
    (folder / "run.json").write_text(json.dumps(header))
    return folder


def test_the_table_of_the_reference(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    for name in ("edited.mp4", "source.mp4"):
        (tmp_path / name).write_bytes(b"")
    manifest = write_manifest(tmp_path, [{"id": name, "category": "joint"} for name in ("a", "b", "c")])
    told = cli("ave-compass", "csv", run(tmp_path / "run", 0.5), "--manifest", manifest)
    assert told.code == 0, told.err
    rows = list(csv.DictReader(io.StringIO(told.out)))
    assert [(row["sample_id"], row["editing_intent_overall"]) for row in rows] == [("a", "50.0"), ("b", "50.0")]
    assert cli("ave-compass", "csv", tmp_path / "run", "--manifest", manifest, "--out", tmp_path / "t.csv").code == 0
    assert (tmp_path / "t.csv").read_text() == told.out


def test_repeated_runs(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    folders = [run(tmp_path / name, intent) for name, intent in (("1", 0.5), ("2", 0.505), ("3", 0.6))]
    assert cli("ave-compass", "stability", *folders[:2]).code == 0
    told = cli("ave-compass", "stability", *folders)
    assert told.code == 3
    assert "NO" in told.err
    found = json.loads(cli("ave-compass", "stability", *folders, "--json").out)
    assert {one["metric"]: one["passes"] for one in found}["instruction_following"] is True
    assert cli("ave-compass", "stability", folders[0]).code == 2


def test_agreement_with_people(cli: Cli, tmp_path: Path) -> None:  # noqa: F811
    folder, labels = run(tmp_path / "run", 0.5), tmp_path / "labels.csv"
    labels.write_text(
        "case,item,value,annotator\na,Q02,yes,x\na,Q02,yes,y\na,Q03,Yes,x\nb,AAS,4,x\na,editing_intent,0.55,x\n"
    )
    told = cli("ave-compass", "agree", folder, labels, "--json")
    assert told.code == 0, told.err
    found = {one["name"]: one["value"] for one in json.loads(told.out)}
    assert found["instruction_following: equal answers"] == 0.5
    assert found["realism: grades within one"] == 1.0
    assert found["intent within 0.1"] == 1.0
    assert "equal answers" in cli("ave-compass", "agree", folder, labels).err
    labels.write_text("case,item,value\nz,Q99,yes\n")
    assert cli("ave-compass", "agree", folder, labels).code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,value\na,yes\n", "expected the columns"),
        ("case,item,value\na,Q02,perhaps\n", ":2: value: expected yes or no"),
        ("case,item,value\na,Q02,yes\na,AAS,3.5\n", ":3: value: expected a whole number from 1 to 5"),
        ("case,item,value\na,AAS,nan\n", "a whole number"),
        ("case,item,value\na,editing_intent,1.5\n", "a number from 0 to 1"),
    ],
)
def test_labels_are_read_strictly(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(UsageError, match=words):
        human_labels.read(tmp_path / "labels.csv")
