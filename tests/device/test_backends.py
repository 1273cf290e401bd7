"""What runs a network, what is written down when it is not the first choice, and what an engine must prove first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from evaluator.errors import EngineError, NetworkError
from evaluator.runtime import backends
from evaluator.runtime.backends import Backends, Network, agreement
from evaluator.runtime.engine_build import Built, ShapeRange
from evaluator.runtime.engine_cache import EngineCache
from evaluator.runtime.engine_fold import OnnxMissing
from evaluator.runtime.engine_reach import WithinReach
from evaluator.runtime.onnx import OnnxSession
from evaluator.runtime.onnx_device import BoundOnnxSession
from evaluator.runtime.tensorrt import NoRoom
from tests.device.host import FakeEngine, Function, HostDevice, Tensor, fake_trt
from tests.device.nets import net

X = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([[1], [10]], dtype=np.float32)
FEEDS = {"x": X, "b": B}
PROFILE = {"x": ShapeRange((1, 3), (2, 3), (8, 3)), "b": ShapeRange((1, 1), (2, 1), (8, 1))}


@pytest.fixture
def network(tmp_path: Path) -> Network:
    return Network(net(tmp_path / "net.onnx"), PROFILE, FEEDS, cosine=0.9999, max_abs=1e-3)


class Machine:
    """A machine with a TensorRT that builds one engine, whatever it is asked for."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, computes: Function) -> None:
        tensors = {"x": Tensor((-1, 3)), "b": Tensor((-1, 1)), "y": Tensor((-1, 3), is_input=False)}
        self.trt = fake_trt({b"plan": FakeEngine(tensors, computes)})
        self.builds, self.half = 0, False
        self.folder = folder
        monkeypatch.setattr(backends, "build_engine", self._build)

    def _build(self, trt: ModuleType, path: Path, profile: Any, timings: bytes, always: Any) -> Built:
        self.builds += 1
        self.always = always
        return Built(b"plan", b"timings", half=self.half)

    def backends(self) -> Backends:
        return Backends(HostDevice(), self.trt, EngineCache(self.folder))


def right(given: Any) -> Any:
    return {"y": 2 * given["x"] + given["b"]}


def test_an_engine_that_agrees_is_used_kept_and_not_built_again(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "engines", monkeypatch, right)
    for _ in range(2):
        chosen = machine.backends()
        session = chosen.open(network)
        assert isinstance(session, WithinReach)
        assert session.provider == "TensorRT"
        np.testing.assert_array_equal(session.run(FEEDS)["y"], 2 * X + B)
        assert chosen.fallbacks == []
    assert machine.builds == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda given: {"y": 2 * given["x"] - given["b"]},
        lambda given: {"y": 2 * given["x"] + given["b"] + 0.01},
    ],
    ids=["another direction", "too far"],
)
def test_an_engine_that_disagrees_is_refused_once_and_for_all_and_the_next_one_computes(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Function
) -> None:
    machine = Machine(tmp_path / "engines", monkeypatch, wrong)
    for _ in range(2):
        chosen = machine.backends()
        session = chosen.open(network)
        assert isinstance(session, BoundOnnxSession)
        np.testing.assert_array_equal(session.run(FEEDS)["y"], 2 * X + B)
        [fallback] = chosen.fallbacks
        assert (fallback.file, fallback.wanted) == ("net.onnx", "TensorRT")
        assert "disagrees with ONNX Runtime" in fallback.reason
    assert machine.builds == 1


@pytest.mark.parametrize("want", [OnnxMissing("onnx is not installed"), NoRoom("no memory")], ids=["package", "memory"])
def test_a_refusal_for_want_of_what_may_come_is_not_remembered(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, want: EngineError
) -> None:
    machine = Machine(tmp_path / "engines", monkeypatch, right)
    building = machine._build

    def missing(*given: Any, **named: Any) -> Built:
        raise want

    monkeypatch.setattr(backends, "build_engine", missing)
    chosen = machine.backends()
    assert isinstance(chosen.open(network), BoundOnnxSession)
    assert chosen.fallbacks[0].reason == str(want)
    monkeypatch.setattr(backends, "build_engine", building)
    assert machine.backends().open(network).provider == "TensorRT"


def test_an_engine_that_gives_no_numbers_is_refused_and_the_next_one_computes(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(tmp_path / "engines", monkeypatch, lambda given: {"y": np.inf * right(given)["y"]})
    chosen = machine.backends()
    np.testing.assert_array_equal(chosen.open(network).run(FEEDS)["y"], 2 * X + B)
    assert "cannot be compared with the CPU: net.onnx: output y is not finite" in chosen.fallbacks[0].reason


@pytest.mark.parametrize(
    ("half", "apart", "provider"),
    [
        (False, 0.01, "CPUExecutionProvider"),
        (True, 0.04, "TensorRT"),
        (True, 0.06, "CPUExecutionProvider"),
    ],
)
def test_an_engine_in_float16_may_differ_by_a_fraction_of_the_largest_number(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, half: bool, apart: float, provider: str
) -> None:
    largest = float(np.abs(2 * X + B).max())
    machine = Machine(tmp_path / "engines", monkeypatch, lambda given: {"y": right(given)["y"] + apart * largest})
    machine.half = half
    chosen = machine.backends()
    assert chosen.open(network).provider == provider
    assert all("of the largest number (at most 0.05)" in one.reason for one in chosen.fallbacks if half)


def test_a_call_that_the_engine_was_not_built_for_is_computed_beside_it_and_said_once(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = Machine(tmp_path / "engines", monkeypatch, right).backends()
    session = chosen.open(network)
    long = {"x": np.ones((9, 3), np.float32), "b": np.ones((9, 1), np.float32)}
    for _ in range(2):
        np.testing.assert_array_equal(session.run(long)["y"], np.full((9, 3), 3.0, np.float32))
    np.testing.assert_array_equal(session.run(FEEDS)["y"], 2 * X + B)
    [fallback] = chosen.fallbacks
    assert (fallback.file, fallback.wanted) == ("net.onnx", "TensorRT")
    assert fallback.reason == "x of shape [9, 3] is outside of what the engine was built for, [1, 3] to [8, 3]"


def test_an_input_that_is_built_into_the_engine_is_neither_compared_nor_forgotten(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shift = {"b": np.full((1, 1), 5.0, np.float32)}
    one = X[:1]
    fixed = replace(network, profile={"x": PROFILE["x"]}, probe={"x": one, **shift}, always=shift)
    tensors = {"x": Tensor((-1, 3)), "y": Tensor((-1, 3), is_input=False)}
    machine = Machine(tmp_path / "engines", monkeypatch, right)
    machine.trt = fake_trt({b"plan": FakeEngine(tensors, lambda given: {"y": 2 * given["x"] + 5})})
    chosen = machine.backends()
    session = chosen.open(fixed)
    assert machine.always == shift
    assert session.inputs["b"] == ((1, 1), "float32")
    np.testing.assert_array_equal(session.run({"x": one, **shift})["y"], 2 * one + 5)
    assert chosen.fallbacks == []
    np.testing.assert_array_equal(session.run({"x": one, "b": 2 * shift["b"]})["y"], 2 * one + 10)
    assert chosen.fallbacks[0].reason == "b is [[10.0]], and the engine was built for [[5.0]]"


def test_without_tensorrt_the_device_is_used_and_that_is_written_down(network: Network, tmp_path: Path) -> None:
    chosen = Backends(HostDevice(), None, EngineCache(tmp_path))
    assert isinstance(chosen.open(network), BoundOnnxSession)
    assert [fallback.reason for fallback in chosen.fallbacks] == ["TensorRT is not installed"]


def test_a_device_that_the_library_does_not_give_ends_on_the_cpu_with_two_reasons(
    network: Network, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    device = HostDevice()
    device.kind = "cuda"  # the library here has no such provider, and would say nothing
    chosen = Backends(device, None, EngineCache(tmp_path))
    session = chosen.open(network)
    assert isinstance(session, OnnxSession)
    np.testing.assert_array_equal(session.run(FEEDS)["y"], 2 * X + B)
    assert "obtained CPUExecutionProvider" in chosen.fallbacks[1].reason
    assert "\x1b" not in capfd.readouterr().err


def test_a_file_that_not_even_the_cpu_can_run_is_said_and_not_remembered_as_an_engine(
    network: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine could be built; what there is to compare it with cannot. A newer library may run the file."""
    machine = Machine(tmp_path, monkeypatch, right)
    broken = replace(network, path=net(tmp_path / "broken.onnx", unknown=True))
    for _ in range(2):
        chosen = machine.backends()
        with pytest.raises(NetworkError, match=r"broken\.onnx: expected an ONNX file"):
            chosen.open(broken)
    assert machine.builds == 2
    with pytest.raises(NetworkError, match="No Op registered"):
        Backends(None, None, EngineCache(tmp_path)).open(broken)


def test_without_tensorrt_a_file_that_is_no_network_is_refused_by_the_cpu_in_the_end(
    network: Network, tmp_path: Path
) -> None:
    network.path.write_bytes(b"no network")
    chosen = Backends(HostDevice(), None, EngineCache(tmp_path))
    with pytest.raises(NetworkError, match=r"net\.onnx: expected an ONNX file"):
        chosen.open(network)
    assert [one.wanted for one in chosen.fallbacks] == ["TensorRT", "ONNX Runtime on the device"]


def test_without_a_device_there_is_nothing_to_fall_back_from(network: Network, tmp_path: Path) -> None:
    chosen = Backends(None, None, EngineCache(tmp_path))
    assert isinstance(chosen.open(network), OnnxSession)
    assert chosen.fallbacks == []


def test_device_memory_goes_into_onnx_runtime_where_it_lies(network: Network) -> None:
    device = HostDevice()
    session = BoundOnnxSession(network.path, device)
    assert session.provider == "CPUExecutionProvider"
    lent = X.copy()
    found = session.run_on_device({"x": device.adopt(lent), "b": device.upload(B)}, {"y": (2, 3)})["y"]
    np.testing.assert_array_equal(device.download(found), 2 * X + B)
    lent += 1  # the same memory, other numbers
    again = session.run_on_device({"x": device.adopt(lent), "b": device.upload(B)}, {"y": (2, 3)})["y"]
    np.testing.assert_array_equal(device.download(again), 2 * (X + 1) + B)
    with pytest.raises(EngineError, match="no input z"):
        session.run({"z": X})


def test_agreement_is_the_worst_of_all_outputs() -> None:
    one = {"a": np.array([1.0, 0.0]), "b": np.array([3.0])}
    other = {"a": np.array([1.0, 0.5]), "b": np.array([3.0])}
    found = agreement(one, other)
    assert found.cosine == pytest.approx(1 / np.sqrt(1.25))
    assert found.max_abs == 0.5
    assert agreement({"a": np.zeros(3)}, {"a": np.zeros(3)}).cosine == 1.0
    assert agreement({"a": np.zeros(3)}, {"a": np.ones(3)}).cosine == 0.0
