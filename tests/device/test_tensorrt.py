"""Running an engine: what is bound, in which order, on which stream, and what is refused."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from evaluator.errors import EngineError, ExpertError
from evaluator.runtime.tensorrt import PROVIDER, TensorRtSession
from tests.device.host import FakeEngine, HostDevice, Tensor, fake_trt

PLAN = b"plan"


def engine(**changes: Tensor) -> FakeEngine:
    """y = 2 x + b, for any batch up to eight."""
    tensors = {"x": Tensor((-1, 3)), "b": Tensor((-1, 1)), "y": Tensor((-1, 3), is_input=False)} | changes
    return FakeEngine(tensors, lambda given: {"y": 2 * given["x"] + given["b"]})


def session(own: FakeEngine | None = None, device: HostDevice | None = None) -> TensorRtSession:
    return TensorRtSession(fake_trt({PLAN: own or engine()}), PLAN, device or HostDevice(), "net.onnx")


X = np.arange(6, dtype=np.float32).reshape(2, 3)
B = np.array([[1], [10]], dtype=np.float32)


def test_an_engine_computes_what_its_network_computes() -> None:
    one = session()
    assert one.provider == PROVIDER
    assert one.inputs == {"x": ([None, 3], "float32"), "b": ([None, 1], "float32")}
    assert one.outputs == ["y"]
    np.testing.assert_array_equal(one.run({"x": X, "b": B})["y"], 2 * X + B)
    np.testing.assert_array_equal(one.run({"x": X[:1], "b": B[:1]})["y"], 2 * X[:1] + B[:1])


def test_shapes_come_before_addresses_and_everything_before_the_one_execution_on_the_stream() -> None:
    own, device = engine(), HostDevice()
    session(own, device).run({"x": X, "b": B})
    assert own.calls == ["shape x", "address x", "shape b", "address b", "address y", f"execute {device.stream}"]


def test_arrays_of_another_type_or_layout_are_made_what_the_engine_reads() -> None:
    strided = np.asfortranarray(X.astype(np.float64))
    np.testing.assert_array_equal(session().run({"b": B, "x": strided})["y"], 2 * X + B)


def test_device_memory_is_used_where_it_lies() -> None:
    device = HostDevice()
    one = session(device=device)
    lent = X.copy()
    feeds = {"x": device.adopt(lent), "b": device.upload(B)}
    assert feeds["x"].address == lent.ctypes.data
    found = one.run_on_device(feeds)["y"]
    np.testing.assert_array_equal(device.download(found), 2 * X + B)
    assert len(device.made) == 3  # two inputs, one output, nothing else


def test_outputs_can_stay_where_the_engine_wrote_them() -> None:
    own, device = engine(), HostDevice()
    one = session(own, device)
    found = one.leave({"x": X, "b": B}, {"y": (2, 3)})
    assert found["y"] is device.made[-1]
    np.testing.assert_array_equal(found["y"], 2 * X + B)
    own.function = lambda given: {"y": np.full_like(given["x"], np.inf)}
    with pytest.raises(ExpertError, match="output y is not finite"):
        one.leave({"x": X, "b": B}, {"y": (2, 3)})


def test_a_buffer_of_another_type_is_refused_before_anything_runs() -> None:
    own, device = engine(), HostDevice()
    feeds = {"x": device.upload(X.astype(np.float16)), "b": device.upload(B)}
    with pytest.raises(EngineError, match="x is float32 in the engine, given float16"):
        session(own, device).run_on_device(feeds)
    assert not any(call.startswith("execute") for call in own.calls)


@pytest.mark.parametrize(
    ("feeds", "message"),
    [
        ({"x": np.zeros((9, 3)), "b": np.zeros((9, 1))}, "outside the engine's profile"),
        ({"x": np.zeros((2, 4)), "b": B}, "outside the engine's profile"),
        ({"x": X}, "inputs are x, b, given x"),
        ({"x": X, "b": B, "c": B}, "no input c"),
    ],
)
def test_what_the_engine_cannot_take_is_named(feeds: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(EngineError, match=message):
        session().run(feeds)


def test_an_engine_of_another_machine_is_refused() -> None:
    with pytest.raises(EngineError, match="does not fit this TensorRT or this GPU"):
        TensorRtSession(fake_trt({}), PLAN, HostDevice(), "net.onnx")


def test_numbers_that_are_none_do_not_get_out() -> None:
    own = engine()
    own.function = lambda given: {"y": np.full_like(given["x"], np.nan)}
    with pytest.raises(ExpertError, match="output y is not finite"):
        session(own).run({"x": X, "b": B})


def test_threads_that_share_an_engine_get_their_own_answers() -> None:
    one, wrong = session(), []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(50):
            x, b = rng.random((2, 3), np.float32), rng.random((2, 1), np.float32)
            if not np.array_equal(one.run({"x": x, "b": b})["y"], 2 * x + b):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
