"""What an expert feeds its network from pictures on a device is what it feeds it from the same pictures on the host."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.doctor.device import resident_experts
from tests.device import environment

LEVEL = 1 / 255 / 0.224
"""One grey level after ImageNet's normalisation, in its most sensitive channel."""

RESCALED = {"dover_technical, enlarged": (LEVEL, 1e-4), "grounding_dino, phrases": (LEVEL, 5e-3)}
"""Case -> most, and most on average, that inputs may be apart where torch scales instead of OpenCV or Pillow. Measured:
a level here and there."""
ON_THE_HOST = {"synchformer, coded again", "lpips_alex, of two shapes"}
"""Cases that do something to pictures that only the host can, for one of their inputs at least."""

BEFORE = {
    "aesthetic_v25, usual": "cef60f3de8bca21b",
    "amt_g, whole": "a7fcd5f41a0af2d2",
    "amt_g, with a border": "09d619cac7ba92c7",
    "clip_vit_l14, usual": "3620c58b9e9296b6",
    "cotracker, usual": "6967a2311aba80f3",
    "dinov2, squashed": "b98a8fa6f14c0269",
    "dinov2, cropped": "b98a8fa6f14c0269",
    "dover_technical, large": "784335a18fb516f8",
    "efficientnet_lite0, usual": "b6a21030d81dc0e4",
    "imagebind, whole": "da186382c4702ee4",
    "lpips_alex, alike": "e39550874378f3b4",
    "object_detector, usual": "caca9f073fef12b7",
    "rife, small": "cd9a39684bad136d",
    "rife, with a border": "b13d7823cc6bf365",
    "sam2, phrases": "affb7edd4618c9b0",
    "stlpips, usual": "c5ec0f0c82830ec8",
    "synchformer, first": "03b272d4ae5b4ee5",
    "syncnet_lip, all": "c2cbe890ef8abfda",
    "transnetv2, overlapping": "6566ff18a91ca709",
    "transnetv2, disjoint": "89b10e69dbe6fafc",
    "videoclip_xl, usual": "d747722bea49f9e4",
}
"""Case -> digest of what a network is fed from the host, taken before there was any other place (of sam2 and
synchformer, after). Cases
whose pixels are another library's are left out."""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("twins")
    found: dict[str, dict[str, Any]] = json.loads(environment.run_with_torch("tests.device.twin_report", str(folder)))
    return found


def test_every_expert_that_says_so_was_tried(report: dict[str, Any]) -> None:
    assert {name.split(",")[0] for name in report} == {kind.id for kind in resident_experts()}
    assert len(report) >= 20


def test_pictures_reach_the_network_in_device_memory(report: dict[str, dict[str, Any]]) -> None:
    for name in report.keys() - ON_THE_HOST:
        assert report[name]["inputs on the device"], name
        assert report[name]["to_host"] == 0, name
        assert report[name]["contiguous"], name


def test_what_only_the_host_can_do_is_counted(report: dict[str, dict[str, Any]]) -> None:
    for name in ON_THE_HOST:
        assert report[name]["to_host"] > 0, name


def test_inputs_are_equal_to_the_bit_unless_they_were_rescaled(report: dict[str, dict[str, Any]]) -> None:
    for name, found in report.items():
        most, mean = RESCALED.get(name, (0.0, 0.0))
        assert found["same form"], name
        assert found["largest"] <= most * 1.001, name
        assert found["mean"] <= mean, name


def test_what_comes_out_is_the_same(report: dict[str, dict[str, Any]]) -> None:
    for name, found in report.items():
        assert found["feature"] <= 1e-6, name


def test_from_the_host_a_network_is_fed_the_same_bytes_as_ever(report: dict[str, dict[str, Any]]) -> None:
    assert {name: report[name]["digest"] for name in BEFORE} == BEFORE


def test_experts_that_follow_or_cut_out_what_they_see_do_not_say_so() -> None:
    named = {kind.id for kind in resident_experts()}
    assert {"efficientnet_lite0", "transnetv2", "stlpips", "dinov2", "aesthetic_v25", "rife"} <= named
    assert not named & {"blazeface", "face_lips", "dinov2_small", "entity_cues", "lk_tracks", "s3fd"}
