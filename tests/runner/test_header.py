"""The header of a run: which libraries it names, and what is taken for one when it is read back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import pytest

from evaluator.doctor.machine import findings
from evaluator.errors import UsageError
from evaluator.runner.header import PACKAGES, packages, read_header


def installed(monkeypatch: pytest.MonkeyPatch, versions: Mapping[str, str]) -> None:
    """An environment with these distributions and no others."""

    def version(name: str) -> str:
        if name not in versions:
            raise metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(metadata, "version", version)


OTHERS = {name: "1" for name in PACKAGES if name != "onnxruntime"}


def test_here_every_library_has_the_version_that_it_tells_itself() -> None:
    import numpy
    import onnxruntime

    found = packages()
    assert found["numpy"] == numpy.__version__
    assert found["onnxruntime"] == onnxruntime.__version__
    assert found.keys() == set(PACKAGES)


def test_the_gpu_build_of_onnx_runtime_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, {**OTHERS, "onnxruntime-gpu": "1.31.1"})
    assert packages() == {**OTHERS, "onnxruntime-gpu": "1.31.1"}
    (libraries,) = [one for one in findings({}) if one.name == "libraries"]
    assert "onnxruntime-gpu 1.31.1" in libraries.found


def test_an_environment_without_onnx_runtime_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    installed(monkeypatch, OTHERS)
    with pytest.raises(metadata.PackageNotFoundError, match="onnxruntime-gpu"):
        packages()


HEADER = {"schema": 1, "status": "success", "manifest": {}, "metrics": []}


def test_no_header_is_none_and_one_is_its_tree(tmp_path: Path) -> None:
    assert read_header(tmp_path) is None
    (tmp_path / "run.json").write_text(json.dumps(HEADER))
    assert read_header(tmp_path) == HEADER


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not JSON"),
        ('{"schema": 1, "status": "succ', "not JSON"),
        ("[]", "schema None, this version reads 1"),
        ("7", "schema None"),
        ('{"schema": 2}', "schema 2"),
        ('{"schema": 1}', "not the header of a run, status, manifest, metrics is not in it"),
    ],
)
def test_another_file_of_that_name_is_refused_by_name(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "run.json").write_text(content)
    with pytest.raises(UsageError, match=rf"run\.json: {message}"):
        read_header(tmp_path)


def test_a_folder_of_that_name_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        read_header(tmp_path)
