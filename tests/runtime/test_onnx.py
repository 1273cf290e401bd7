"""A session on the CPU: its provider, types and refusals, and files over which the library would end the process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evaluator.errors import ExpertError, NetworkError, PrerequisiteError
from evaluator.runtime.onnx import CPU, OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.store import ROOT
from tests.device.host import HostDevice
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


def test_a_file_that_is_no_network_is_named_without_its_folder(tmp_path: Path) -> None:
    (tmp_path / "net.onnx").write_bytes(b"this is not a network " * 20)
    with pytest.raises(
        NetworkError, match=r"^net\.onnx: expected an ONNX file.*INVALID_PROTOBUF.*export the model"
    ) as caught:
        OnnxSession(tmp_path / "net.onnx")
    assert str(tmp_path) not in str(caught.value)


def test_a_network_in_words_that_the_library_does_not_know_yet_says_which(tmp_path: Path) -> None:
    newer = net(tmp_path / "net.onnx")
    newer.write_bytes(newer.read_bytes().replace(b"\x0a\x00\x10\x11", b"\x0a\x00\x10\x63"))  # opset 17 -> 99
    with pytest.raises(
        NetworkError,
        match=r"net\.onnx: expected an ONNX file.*support for domain ai.onnx is till opset.*export the model",
    ):
        OnnxSession(newer)
    with pytest.raises(NetworkError, match=r"No Op registered for Nonsense"):
        OnnxSession(net(tmp_path / "other.onnx", unknown=True))


@pytest.mark.parametrize(
    ("x", "b", "says"),
    [((1, 4), (1, 1), "Got: 4 Expected: 3"), ((3,), (1, 1), "Invalid rank"), ((3, 3), (2, 1), "2 by 3")],
)
def test_what_a_network_cannot_be_run_on_is_said_beside_what_it_takes(
    tmp_path: Path, x: tuple[int, ...], b: tuple[int, ...], says: str
) -> None:
    feeds = {"x": np.zeros(x, np.float32), "b": np.zeros(b, np.float32)}
    expected = rf"net\.onnx: takes x \[batch, 3\], b \[batch, 1\], cannot run on x \[.*{says}.*export the model"
    for session in (OnnxSession(net(tmp_path / "net.onnx")), BoundOnnxSession(tmp_path / "net.onnx", HostDevice())):
        with pytest.raises(NetworkError, match=expected):
            session.run(feeds)


def test_an_input_that_is_not_given_is_named(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"Required inputs \(\['b'\]\) are missing"):
        OnnxSession(net(tmp_path / "net.onnx")).run({"x": np.zeros((1, 3), np.float32)})
