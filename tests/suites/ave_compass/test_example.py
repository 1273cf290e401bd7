"""The worked example: judged metrics replay from the ledger of the wiring fixture, and say that they mean nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.judge.ledger import read_records
from evaluator.judge.record import Call, Opening
from evaluator.runtime.session import SessionSource
from evaluator.schema import decode_score
from evaluator.suites.ave_compass.judged import JUDGED
from tests.conftest import ROOT
from tests.suites.ave_compass.make_ledger import LEDGER, MANIFEST
from tests.test_cli import Cli, cli  # noqa: F401  (fixture)

STAMP = ROOT / "manifests" / "demo" / "stamp.json"
CASE = "video-only-mist"


@pytest.fixture
def demo(models: SessionSource) -> Path:
    """The demo clips and the models of substitutes for sound."""
    if not STAMP.is_file():
        pytest.skip("demo clips are not made (./run.sh setup)")
    return STAMP.parent


def test_the_ledger_is_small_and_that_of_a_wiring_fixture() -> None:
    records = list(read_records(LEDGER))
    assert LEDGER.stat().st_size < 300_000
    assert {judge.trained for one in records if isinstance(one, Opening) for judge in one.judges.values()} == {False}
    assert {one.status for one in records if isinstance(one, Call)} == {"ok"}


def test_judged_metrics_replay_without_a_server(cli: Cli, demo: Path, tmp_path: Path) -> None:  # noqa: F811
    """One case of the four, for time: pictures from an encoder's output, sound by substitutes."""
    (line,) = [line for line in MANIFEST.read_text().splitlines() if json.loads(line)["id"] == CASE]
    (tmp_path / "m.jsonl").write_text(line.replace('"ave_compass/', f'"{ROOT}/manifests/ave_compass/') + "\n")
    arguments = ("--manifest", tmp_path / "m.jsonl", "--media-root", ROOT / "manifests", "--out", tmp_path / "out")
    chosen = ("--metrics", ",".join(metric.id for metric in JUDGED), "--judge-replay", LEDGER)
    told = cli(*arguments, *chosen)
    assert told.code == 0, told.err
    scores = [decode_score(one) for one in (tmp_path / "out" / "scores.jsonl").read_bytes().splitlines()]
    reasons = {score.metric: score.reason.code for score in scores if score.reason is not None}
    if "no_judge" in reasons.values():
        pytest.skip("the demo clips of this machine differ from the ledger's: tests.suites.ave_compass.make_ledger")
    empty = {"editing_intent_audio", "instruction_following_audio", "edit_response_audio"}
    assert reasons == dict.fromkeys(empty, "not_applicable")
    assert all(score.models[-1].stands_in_for for score in scores)
    evidence = {score.metric: score.details["evidence"] for score in scores if score.value is not None}
    assert evidence["edit_response_video"] == "native"
    assert evidence["fidelity_preserving_audio"] == "substitute"
    assert {score.details["source_seconds"] for score in scores if score.value is not None} == {5.28}
    assert "these numbers mean nothing" in told.err
    assert "judge*" in told.err
