"""G1, G4 and G9 are taken of a run: on DALI's CPU build and host memory here, on a GPU with `bench --device gpu`."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from evaluator.runtime.session import SessionSource
from tests.device import environment, residence


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, models: SessionSource) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("bench")
    found: dict[str, Any] = json.loads(environment.run_with_torch("tests.device.bench_report", str(folder), dali=True))
    return found


def figures(board: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in board["figures"]}


def test_both_ways_of_decoding_find_every_frame(report: dict[str, Any]) -> None:
    assert report["decoders"] == {"source": 2 * [residence.FRAMES], "bare": 2 * [residence.FRAMES]}


def test_the_decoder_is_held_against_the_bare_operator(report: dict[str, Any]) -> None:
    found = figures(report["boards"][0])["G1"]
    assert 0 < found["value"] < 2
    assert "frames/s" in found["note"]


def test_a_run_is_held_against_the_longer_of_its_two_halves(report: dict[str, Any]) -> None:
    for board in report["boards"]:
        found = figures(board)["G4"]
        assert 0 < found["value"] < 2 * (os.cpu_count() or 1)  # a "device" of many cores may do two halves at a time
        assert "clips in" in found["note"]
        assert "networks alone 0.0" not in found["note"]  # the sessions of the device were counted


def test_pictures_are_compared_view_by_view_with_the_cpus(report: dict[str, Any]) -> None:
    found = figures(report["boards"][0])["G9"]
    assert 15 < found["value"] < 60  # noise, enlarged
    assert "views: " in found["note"]
    assert "came from the CPU" not in found["note"]


def test_without_the_decoder_two_figures_say_why_they_are_missing(report: dict[str, Any]) -> None:
    found = figures(report["boards"][1])
    for name in ("G1", "G9"):
        assert found[name]["value"] is None
        assert "DALI is not installed" in found[name]["note"]


def test_the_board_names_the_device(report: dict[str, Any]) -> None:
    assert report["boards"][0]["gpu"]["device"] == "host"
    assert report["boards"][0]["gpu"]["decoder"] == "dali"
