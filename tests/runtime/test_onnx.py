"""A session on the CPU: its provider, types and refusals, and files over which the library would end the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import ExpertError, PrerequisiteError
from evaluator.runtime.onnx import CPU, OnnxSession
from evaluator.runtime.store import ROOT
from tests.device.nets import net
from tests.runtime.mixed import crossing


@pytest.mark.parametrize("kind", ["float16", "int64"])
def test_a_cast_between_a_transpose_and_a_product_does_not_end_the_process(tmp_path: Path, kind: str) -> None:
    assert opened_elsewhere(crossing(tmp_path / "net.onnx", kind, cast=True), kind) == [[[16.0] * 3] * 2]


def test_neither_does_one_that_the_library_puts_into_a_half_precision_file(tmp_path: Path) -> None:
    assert opened_elsewhere(crossing(tmp_path / "net.onnx", "float16", cast=False), "float16") == [[[16.0] * 3] * 2]


def opened_elsewhere(path: Path, kind: str) -> object:
    """What the file makes of ones, in a process of its own: with one more rearrangement it ends by signal 11."""
    command = [sys.executable, "-m", "tests.runtime.mixed", str(path), kind]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-500:])
    return json.loads(done.stdout)


def test_a_session_tells_its_provider_names_and_types(tmp_path: Path) -> None:
    session = OnnxSession(net(tmp_path / "net.onnx"))
    assert session.provider == CPU
    assert session.inputs == {"x": (["batch", 3], "tensor(float)"), "b": (["batch", 1], "tensor(float)")}
    assert session.outputs == ["y"]
    assert session.output_types == {"y": (["batch", 3], "tensor(float)")}


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_provider_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match="asked ONNX Runtime for CUDAExecutionProvider, obtained CPU"):
        OnnxSession(net(tmp_path / "net.onnx"), "CUDAExecutionProvider")


def test_an_answer_that_is_not_finite_is_an_error(tmp_path: Path) -> None:
    session = OnnxSession(net(tmp_path / "net.onnx", scale=3e38))
    feeds = {"x": np.full((1, 3), 10, np.float32), "b": np.zeros((1, 1), np.float32)}
    with pytest.raises(ExpertError, match="output y is not finite"):
        session.run(feeds)
