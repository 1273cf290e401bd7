"""Requirement files: exact, hash-locked, without addresses, and in step with pyproject."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from evaluator.runtime.store import ROOT

FOLDER = ROOT / "docker" / "requirements"
LOCKED = [
    "cpu.txt",
    "gpu.txt",
    "vllm.txt",
    "dev.txt",
    "export.txt",
    "export-models.txt",
    "judge-test.txt",
    "device-test.txt",
    "weights.txt",
    "weights-on-request.txt",
    "demo.txt",
]
PIN = re.compile(
    r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)(?P<marker> ; .+?)?(?P<hashes>( --hash=sha256:[0-9a-f]{64})+)$"
)


def requirements(name: str) -> list[str]:
    """Logical lines without comments."""
    text = (FOLDER / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip() and line[0] != "#"]


def versions(name: str) -> dict[str, str]:
    found = [PIN.match(line) for line in requirements(name)]
    return {item["name"]: item["version"] for item in found if item}


@pytest.mark.parametrize("name", LOCKED)
def test_every_requirement_is_exact_and_has_digests(name: str) -> None:
    lines = requirements(name)
    assert lines
    assert [line for line in lines if PIN.match(line) is None] == []


@pytest.mark.parametrize(("name", "more"), [("export-torch.txt", []), ("judge-torch.txt", ["torchvision==0.28.0"])])
def test_torch_is_exact_and_says_why_it_has_no_digest(name: str, more: list[str]) -> None:
    assert requirements(name) == ["torch==2.13.0", *more]
    assert "digest" in (FOLDER / name).read_text(encoding="utf-8")


def test_the_training_extra_is_exact_and_says_why_it_has_no_digest() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    pinned = [line.split("==") for line in requirements("judge-train.txt")]
    assert {name for name, _ in pinned} == {re.split(r"[<>=!~ ]", line)[0] for line in extra["distill"]} - {"torch"}
    assert "digest" in (FOLDER / "judge-train.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_no_address_no_option_and_no_path(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "://" not in text
    assert not re.search(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links)", text, re.MULTILINE)
    assert not re.search(r"(^|\s)/[a-z]+/", text)


def test_the_runtime_is_what_pyproject_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert requirements("cpu.in") == project


def test_the_runtime_on_a_gpu_is_that_of_the_cpu_with_another_onnx_runtime_and_more() -> None:
    cpu, gpu = requirements("cpu.in"), requirements("gpu.in")
    assert [line for line in gpu if line in cpu] == [line for line in cpu if not line.startswith("onnxruntime")]
    more = {re.split(r"[\[=]", line)[0] for line in gpu if line not in cpu}
    assert more == {"onnxruntime-gpu", "torch", "nvidia-dali-cuda130", "nvidia-npp", "onnx", "tensorrt-cu13-bindings"}


def test_the_lock_for_a_gpu_computes_with_the_same_libraries() -> None:
    cpu, gpu, vllm = versions("cpu.txt"), versions("gpu.txt"), versions("vllm.txt")
    assert "onnxruntime" not in gpu
    differ = {name for name in cpu.keys() & gpu.keys() if cpu[name] != gpu[name]}
    assert differ <= {"packaging"}  # DALI does not take the newest
    assert gpu["torch"] == vllm["torch"]


def test_tensorrts_libraries_are_in_no_lock() -> None:
    stubs = re.compile(r"tensorrt(-cu\d+)?(-libs)?$")  # what the registry has of them would fetch from elsewhere
    for name in LOCKED:
        assert not [one for one in versions(name) if stubs.match(one)], name


def test_the_locks_agree_with_each_other() -> None:
    cpu, dev = versions("cpu.txt"), versions("dev.txt")
    assert cpu.items() <= dev.items()
    for other in (versions("export.txt"), versions("export-models.txt"), versions("judge-test.txt")):
        common = cpu.keys() & other.keys()
        assert {name: cpu[name] for name in common} == {name: other[name] for name in common}


def test_the_runtime_has_no_torch() -> None:
    assert not {"torch", "librosa", "onnx"} & versions("cpu.txt").keys()
