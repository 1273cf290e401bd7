"""Which calls an engine takes, and what becomes of the others when pictures should stay on the device."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.experts import (
    aesthetic_v25,
    clip_vit_l14,
    dinov2,
    dinov2_small,
    efficientnet_lite0,
    imagebind,
    minilm,
    mtcnn,
    nisqa,
    plcmos,
    ppocr_v6,
    resemblyzer,
    rife,
    silero_vad,
    syncnet_aud,
    syncnet_lip,
)
from evaluator.experts.blazeface import LONG_SIDE
from evaluator.experts.waveform import RATE
from evaluator.runtime.contract import check_contract
from evaluator.runtime.engine_build import ShapeRange, fixed
from evaluator.runtime.engine_reach import WithinReach
from evaluator.runtime.lock import ModelFile, read_lock
from evaluator.runtime.session import Array, OnDevice
from evaluator.runtime.shapes import network, reach
from evaluator.runtime.store import LOCK_FILE
from evaluator.runtime.tensorrt import TensorRtSession
from tests.device.host import FakeEngine, HostDevice, Tensor, fake_trt
from tests.runtime.goldens import FEEDS

PROFILE = {"x": ShapeRange((1, 3), (2, 3), (8, 3))}


class Host:
    """A session that has only the host's memory."""

    provider, inputs, outputs = "host", {}, ("y",)  # type: ignore[var-annotated]

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        return {"y": 2 * feeds["x"]}


@pytest.fixture
def session() -> WithinReach:
    engine = FakeEngine(
        {"x": Tensor((-1, 3)), "y": Tensor((-1, 3), is_input=False)}, lambda given: {"y": 3 * given["x"]}
    )
    engine = TensorRtSession(fake_trt({b"plan": engine}), b"plan", HostDevice(), "net.onnx")  # type: ignore[assignment]
    return WithinReach(engine, PROFILE, {"rate": np.array(16_000)}, Host, print)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("feeds", "reason"),
    [
        ({"x": np.zeros((1, 3))}, ""),
        ({"x": np.zeros((8, 3)), "rate": np.array(16_000)}, ""),
        ({"x": np.zeros((9, 3))}, "x of shape [9, 3] is outside of what the engine was built for, [1, 3] to [8, 3]"),
        ({"x": np.zeros(3)}, "x of shape [3] is outside"),
        ({"x": np.zeros((1, 3)), "rate": np.array(8000)}, "rate is 8000, and the engine was built for 16000"),
    ],
)
def test_a_call_is_within_reach_or_the_reason_is_named(session: WithinReach, feeds: Any, reason: str) -> None:
    found = session.beyond(feeds)
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_pictures_stay_on_the_device_for_as_long_as_the_engine_takes_them(
    session: WithinReach, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(session, OnDevice)
    few, many = np.ones((2, 3), np.float32), np.ones((20, 3), np.float32)
    assert np.array_equal(session.leave({"x": few}, {"y": (2, 3)})["y"], 3 * few)
    for _ in range(2):
        assert np.array_equal(session.leave({"x": many}, {"y": (20, 3)})["y"], 2 * many)
    assert capsys.readouterr().out.count("outside of what") == 1


NETWORKS = [(item.id, file) for item in read_lock(LOCK_FILE).models for file in item.files if file.inputs]


@pytest.mark.parametrize(("model", "file"), NETWORKS, ids=lambda one: getattr(one, "name", one))
def test_an_engine_whose_sizes_are_fixed_honours_the_contract_of_its_file(model: str, file: ModelFile) -> None:
    """A rewritten file has the sizes of every call written down, and its engine no longer calls them open."""
    own = network(file, Path(file.name))
    inputs = {
        tensor.name: Tensor(
            tuple(size or -1 for size in fixed(own.profile[tensor.name])), np.dtype(tensor.dtype.split(" or ")[0])
        )
        for tensor in file.inputs
        if tensor.always is None
    }
    outputs = {tensor.name: Tensor((), is_input=False) for tensor in file.outputs}
    engine = FakeEngine({**inputs, **outputs}, lambda given: {})
    session = TensorRtSession(fake_trt({b"plan": engine}), b"plan", HostDevice(), file.name)
    reaching = WithinReach(session, own.profile, own.always, Host, print)  # type: ignore[arg-type]
    check_contract(reaching, model, file, file.name)


@pytest.mark.parametrize(("model", "file"), NETWORKS, ids=lambda one: getattr(one, "name", one))
def test_the_stored_batch_counts_something_and_masks_not_everything(model: str, file: ModelFile) -> None:
    probe = network(file, Path(file.name)).probe
    assert [name for name, array in probe.items() if array.dtype.kind in "ib" and not array.any()] == []


ALWAYS = {
    ("aesthetic_v25", "aesthetic_v25.onnx"): aesthetic_v25.BATCH,
    ("blazeface", "rnet.onnx"): mtcnn.RNET_BATCH,
    ("blazeface", "onet.onnx"): mtcnn.ONET_BATCH,
    ("clip_vit_l14", "clip_image.onnx"): clip_vit_l14.BATCH,
    ("dinov2", "dinov2.onnx"): dinov2.BATCH,
    ("dinov2_small", "dinov2_small.onnx"): dinov2_small.BATCH,
    ("efficientnet_lite0", "efficientnet_lite0.onnx"): efficientnet_lite0.BATCH,
    ("imagebind", "imagebind_vision.onnx"): imagebind.BATCH,
    ("imagebind", "imagebind_audio.onnx"): imagebind.WINDOWS,
    ("resemblyzer", "resemblyzer.onnx"): resemblyzer.BATCH,
    ("syncnet_aud", "syncnet_aud.onnx"): syncnet_aud.BATCH,
    ("syncnet_lip", "syncnet_lip.onnx"): syncnet_lip.BATCH,
}
"""Networks that are fed batches of one size only."""


@pytest.mark.parametrize(("model", "file"), ALWAYS)
def test_an_engine_is_built_for_the_batch_that_its_expert_gives(model: str, file: str) -> None:
    size = ALWAYS[model, file]
    assert read_lock(LOCK_FILE)[model].file(file).ranges["batch"] == (size, size, size)


def test_an_engine_is_built_for_the_shortest_and_the_longest_that_its_expert_gives() -> None:
    lock = read_lock(LOCK_FILE)
    frames = [len(plcmos.features(np.ones(size, np.float32))) for size in (plcmos.SHORTEST, plcmos.LONGEST)]
    assert [*lock["plcmos"].file(plcmos.FILE).ranges["frames"]][::2] == frames
    assert lock["minilm"].file("model.onnx").ranges["sequence"][2] == minilm.LENGTH
    assert set(lock["nisqa"].file(nisqa.FILE).ranges["segments"]) == {nisqa.MOST_SEGMENTS}
    silero = lock["silero_vad"].file(silero_vad.FILE)
    assert set(silero.ranges["samples"]) == {silero_vad.CONTEXT + silero_vad.CHUNK}
    assert [tensor.always for tensor in silero.inputs if tensor.name == "sr"] == [RATE]
    small, large = lock["rife"].file("rife.onnx").ranges["width"][::2]
    assert small <= rife.MULTIPLE <= rife.LONG_SIDE <= large
    reader = lock["ppocr_v6"]
    assert reader.file("detector.onnx").ranges["rows"][2] == ppocr_v6.LONG_SIDE
    assert [*reader.file("recogniser.onnx").ranges["columns"]][::2] == [ppocr_v6.NARROWEST, ppocr_v6.WIDEST]
    smallest, largest = lock["blazeface"].file("pnet.onnx").ranges["height"][::2]
    scales = list(mtcnn.pyramid(LONG_SIDE, LONG_SIDE))
    assert smallest <= int(LONG_SIDE * scales[-1]) + 1
    assert int(LONG_SIDE * scales[0]) + 1 <= largest


@pytest.mark.parametrize(("model", "file"), FEEDS)
def test_the_shapes_of_a_golden_call_are_within_reach_where_an_expert_makes_such_calls(model: str, file: str) -> None:
    wanted = read_lock(LOCK_FILE)[model].file(file)
    profile = reach(wanted)
    fed = {tensor.name for tensor in wanted.inputs if tensor.always is None}
    assert profile.keys() == fed, "a dimension whose range is not known"
    for name, array in FEEDS[model, file]().items():
        if name in profile:
            assert len(array.shape) == len(profile[name].low), name
            assert all(size <= most for size, most in zip(array.shape, profile[name].high, strict=True)), name
