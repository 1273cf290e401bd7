"""The header of a run: which libraries it names."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

import pytest

from evaluator.doctor.machine import findings
from evaluator.runner.header import PACKAGES, packages


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
