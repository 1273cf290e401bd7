"""Pictures that DALI decoded stay where they are until a network has read them, and nobody gets other numbers for it.

DALI's CPU build decodes, torch holds "device" memory on the CPU, ONNX Runtime binds addresses there. On a GPU the same
runs are one of `tests.gpu.checks`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.runtime.session import SessionSource
from tests.device import environment, residence
from tests.device.accounts import amounts


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, models: SessionSource) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("residence")
    found: dict[str, Any] = json.loads(
        environment.run_with_torch("tests.device.residence_report", str(folder), dali=True)
    )
    return found


def test_no_picture_crosses_for_experts_that_take_them_on_the_device(report: dict[str, Any]) -> None:
    assert report["wrong"] == []
    moved = report["runs"]["device"]["bytes"]
    assert {name for name, own in moved.items() if own["pictures_on_host"]} == {residence.COME}
    assert all(moved[name]["pictures_on_device"] for name in residence.STAY)
    assert moved["expert/stlpips"] == amounts(pictures_on_device=20, bytes_to_host=10 * 4)  # ten distances
    assert moved["expert/rife"] == amounts(pictures_on_device=23)  # it says how far off it is, and that is all
    assert moved["decode"]["bytes_to_host"] == 0


def test_without_it_every_picture_crossed_twice(report: dict[str, Any]) -> None:
    before = report["runs"]["host"]["bytes"]
    picture = 256 * 256 * 3
    assert before["view/squash 256x256 rgb"]["bytes_to_host"] >= 20 * picture
    assert before["expert/stlpips"]["bytes_to_device"] == 20 * picture * 4  # as float32
    assert before["expert/transnetv2"]["bytes_to_host"] >= residence.FRAMES * 27 * 48 * 3


def test_what_a_metric_reads_comes_down_once_and_is_told(report: dict[str, Any]) -> None:
    assert report["runs"]["device"]["bytes"][residence.COME]["bytes_to_host"] % (224 * 224) == 0
    assert report["runs"]["device"]["bytes"][residence.COME] == report["runs"]["host"]["bytes"][residence.COME]


def test_the_same_numbers_come_out_to_the_last_digit_that_a_record_has(report: dict[str, Any]) -> None:
    assert report["runs"]["device"]["values"] == report["runs"]["host"]["values"]
    assert report["runs"]["cpu"]["bytes"] == {}


@pytest.mark.parametrize("kind", ["engine", "bound"])
def test_a_session_reads_a_tensor_at_its_own_address_and_copies_the_rest(report: dict[str, Any], kind: str) -> None:
    found = report["sessions"][kind]
    assert found["right"]
    assert found["own address"]
    assert found["uploads"] == 2  # of two calls, the input that lay on the host
    assert found["bytes"] == amounts(bytes_to_device=2 * 8, bytes_to_host=2 * 24)


def test_an_engine_binds_before_it_runs_and_answers_after_its_stream(report: dict[str, Any]) -> None:
    found = report["sessions"]["engine"]
    assert found["calls"] == [
        "shape x",
        "address x",
        "shape b",
        "address b",
        "address y",
        f"execute {report['stream']}",
    ]
    assert found["waits"] == 2


def test_a_network_that_fell_back_to_the_cpu_has_its_pictures_brought_there(report: dict[str, Any]) -> None:
    found = report["sessions"]["cpu"]
    assert found["right"]
    assert found["bytes"] == amounts(bytes_to_host=24)


def test_batches_are_treated_alike_wherever_they_lie(report: dict[str, Any]) -> None:
    assert all(report["arrays"].values()), report["arrays"]


def test_memory_of_a_decoder_is_copied_and_waited_for_and_other_layouts_are_refused(report: dict[str, Any]) -> None:
    assert report["kept"] == {"own memory": True, "waited": True}
    assert "without a copy" in report["elsewhere"]
