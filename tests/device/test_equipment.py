"""A run on a device, with host memory in the place of a GPU's: the wiring from the option to the header."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator.runner import equipment, run
from evaluator.runner.equipment import on_gpu
from evaluator.runtime.engine_cache import EngineCache
from evaluator.runtime.session import SessionSource
from tests.device.host import HostDevice
from tests.runner.clips import clip
from tests.test_cli import Cli, cli, records, write  # noqa: F401  (fixture)

METRICS = "shot_count,subject_consistency,ssim"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    for seed, name in enumerate(("one", "source")):
        clip(tmp_path / f"{name}.mp4", seed=seed, frames=12)
    write(tmp_path / "m.jsonl", [{"id": "one", "suite": "core", "video": "one.mp4", "source": "source.mp4"}])
    return tmp_path / "m.jsonl"


def test_a_device_computes_and_the_header_says_what_was_not_used(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
    models: SessionSource,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    common = ("--manifest", manifest, "--metrics", METRICS)
    assert cli(*common, "--out", tmp_path / "cpu").code == 0
    monkeypatch.setattr(run, "equipment", lambda name: on_gpu(HostDevice(), None, EngineCache(tmp_path / "engines")))
    assert cli(*common, "--out", tmp_path / "gpu", "--device", "gpu").code == 0
    by_cpu, by_gpu = (records(tmp_path / name) for name in ("cpu", "gpu"))
    assert [item["value"] for item in by_cpu] == [item["value"] for item in by_gpu]
    assert all(one["fingerprint"] != other["fingerprint"] for one, other in zip(by_cpu, by_gpu, strict=True))
    header = json.loads((tmp_path / "gpu" / "run.json").read_text())
    assert (header["device"], header["driver"]) == ("gpu", "none")
    told = {(item["file"], item["wanted"]): item["reason"] for item in header["fallbacks"]}
    assert told["every clip", "DALI"] == "DALI is not installed; PyAV decodes"
    assert told["transnetv2.onnx", "TensorRT"] == "TensorRT is not installed"
    assert json.loads((tmp_path / "cpu" / "run.json").read_text())["fallbacks"] == []


def test_a_gpu_that_is_not_there_is_exit_4_and_nothing_is_written(
    cli: Cli,  # noqa: F811
    manifest: Path,
    tmp_path: Path,
) -> None:
    told = cli("--manifest", manifest, "--out", tmp_path / "out", "--device", "gpu", "--metrics", METRICS)
    assert told.code == 4
    assert "torch is needed for a GPU" in told.err or "no CUDA device" in told.err
    assert not (tmp_path / "out" / "scores.jsonl").exists()


def test_the_cpu_is_the_default_and_brings_nothing() -> None:
    assert equipment.equipment("cpu") is equipment.CPU
    assert equipment.CPU.fallbacks == []
