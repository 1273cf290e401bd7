"""Checks that need torch, onnx and tflite: run by `test_inside.py` with the interpreter of the export environment.

    python -m tests.export.inside            one line per check on stdout:  name <TAB> ok, or the error

All run in one process, because torch takes seconds to import. pytest is not installed there.
"""

from __future__ import annotations

import pickle
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import tflite
import torch
from onnx import helper

from evaluator.runtime.onnx import OnnxSession
from export.onnx_file import export_torch, load_weights, seeded, write
from export.recipes import distillmos, nisqa, rife, stlpips
from export.tflite import Output, Unsupported, convert, same_padding
from tests.export.flat import FlatModel

Check = Callable[[], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    """Register a check under its name."""
    CHECKS[function.__name__] = function
    return function


# -------------------------------------------------------------------------------------------------------- TFLite


def lite(content: bytes, value: Any) -> Any:
    """What LiteRT computes: the reference for every operator below."""
    from ai_edge_litert.interpreter import Interpreter

    interpreter = Interpreter(model_content=content, num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], value)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def assert_same(model: FlatModel, shape: tuple[int, ...]) -> None:
    """Convert a one-output model and compare it with LiteRT, one picture and a batch of two."""
    content = model.content()
    values = np.random.default_rng(1).normal(size=(2, *model.input_shape[1:])).astype(np.float32)
    expected = np.concatenate([lite(content, value[None]) for value in values]).reshape(2, *shape)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        convert(content, path, "pixels", [Output("y", "found", shape)])
        session = OnnxSession(path)
        found = session.run({"pixels": values.transpose(0, 3, 1, 2)})["found"]
        alone = session.run({"pixels": values[:1].transpose(0, 3, 1, 2)})["found"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(alone, expected[:1], rtol=1e-4, atol=1e-4)


def weights(*shape: int) -> Any:
    return np.random.default_rng(2).normal(size=shape).astype(np.float32)


@check
def convolutions_pad_as_tflite_does() -> None:
    for size in (7, 8):
        for stride in (1, 2):
            for padding in (tflite.Padding.SAME, tflite.Padding.VALID):
                model = FlatModel((1, size, size + 2, 3))
                model.convolution(weights(4, 3, 3, 3), weights(4), stride, padding)
                assert_same(model, model.output_shape[1:])


@check
def depthwise_convolutions_agree() -> None:
    for kernel, stride in ((3, 1), (5, 2)):
        model = FlatModel((1, 9, 12, 4))
        model.depthwise(weights(1, kernel, kernel, 4), weights(4), stride)
        assert_same(model, model.output_shape[1:])


@check
def half_precision_weights_are_widened() -> None:
    model = FlatModel((1, 6, 6, 3))
    model.convolution(weights(2, 1, 1, 3).astype(np.float16), weights(2).astype(np.float16), 1, tflite.Padding.SAME)
    assert_same(model, (6, 6, 2))


@check
def pools_pads_slopes_and_sizes_agree() -> None:
    for size in (7, 8):
        model = FlatModel((1, size, size, 3))
        model.max_pool(2, 2, tflite.Padding.SAME)
        assert_same(model, model.output_shape[1:])
    model = FlatModel((1, 4, 5, 3))
    model.pad(((0, 0), (1, 2), (0, 3), (2, 1)))
    assert_same(model, (7, 8, 6))
    model = FlatModel((1, 4, 5, 3))
    model.prelu(weights(1, 1, 3))
    assert_same(model, (4, 5, 3))
    model = FlatModel((1, 4, 5, 3))
    model.resize(8, 10)
    assert_same(model, (8, 10, 3))


@check
def a_reshape_counts_channels_last() -> None:
    model = FlatModel((1, 4, 5, 6))
    model.reshape((1, 60, 2))
    assert_same(model, (60, 2))


@check
def what_is_not_known_is_refused() -> None:
    activated = FlatModel((1, 6, 6, 3))
    activated.convolution(weights(2, 1, 1, 3), weights(2), 1, tflite.Padding.SAME, tflite.ActivationFunctionType.RELU6)
    unknown = FlatModel((1, 6, 6, 3))
    unknown.unary(tflite.BuiltinOperator.LOGISTIC)
    corners = FlatModel((1, 4, 5, 3))
    corners.resize(8, 10, align_corners=True)
    for model in (activated, unknown, corners):
        try:
            convert(model.content(), Path("/dev/null"), "pixels", [Output("y", "found", model.output_shape[1:])])
        except Unsupported:
            continue
        raise AssertionError("converted")


@check
def same_padding_follows_its_rule() -> None:
    assert same_padding(7, 3, 1) == (1, 1)
    assert same_padding(7, 3, 2) == (1, 1)
    assert same_padding(8, 3, 2) == (0, 1)
    assert same_padding(8, 2, 2) == (0, 0)
    assert same_padding(7, 2, 2) == (0, 1)


# ------------------------------------------------------------------------------------------------- torch and ONNX


@check
def an_export_has_the_same_bytes_each_time() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(2))
    net(seeded(1, 3, 8, 8))
    found = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.onnx"
            export_torch(net, (seeded(1, 3, 8, 8),), path, ["x"], ["y"], {"x": {0: "batch"}, "y": {0: "batch"}})
            found.append(path.read_bytes())
    assert found[0] == found[1]
    model = onnx.load_from_string(found[0])
    assert (model.producer_name, model.producer_version, list(model.metadata_props)) == ("evaluator", "", [])
    assert model.graph.output[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert b"/tmp/" not in found[0]


@check
def a_malformed_graph_is_not_written() -> None:
    node = helper.make_node("NoSuchOperator", ["x"], ["y"])
    value = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in "xy"]
    model = helper.make_model(helper.make_graph([node], "g", value[:1], value[1:]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        try:
            write(model, path)
        except Exception:
            assert not path.exists()
            return
    raise AssertionError("written")


class Harmful:
    """What a hostile weight file holds."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.trace,)


@check
def a_weight_file_with_code_in_it_is_refused() -> None:
    import export.sources  # noqa: F401  sets the switch for packages that load by themselves

    with tempfile.TemporaryDirectory() as folder:
        path, trace = Path(folder) / "weights.pt", Path(folder) / "harm-was-done"
        torch.save({"a": Harmful(trace)}, path)
        for load in (load_weights, torch.load):
            try:
                load(path)
            except pickle.UnpicklingError:
                continue
            raise AssertionError("loaded")
        assert not trace.exists()


# ------------------------------------------------------------------------------------------------------- recipes


@check
def the_convolution_is_a_fourier_transform() -> None:
    wave = seeded(2, 1600)
    found = distillmos.compressed_spectrum(wave, 160, 320)
    padded = torch.nn.functional.pad(wave, (80, 80), mode="reflect")
    spectrum = torch.stft(padded, 320, 160, 320, torch.hann_window(320), center=False, return_complex=True)
    expected = torch.polar(spectrum.abs() ** 0.3, spectrum.angle())
    torch.testing.assert_close(torch.view_as_complex(found.contiguous()), expected, rtol=1e-3, atol=1e-3)


@check
def columns_are_pooled_adaptively() -> None:
    x = seeded(2, 3, 24, 7)
    found = nisqa.pool_columns(x, ((0, 2), (1, 3), (2, 5), (4, 6), (5, 7)))
    torch.testing.assert_close(found, torch.nn.functional.adaptive_max_pool2d(x, (12, 5)))
    x = seeded(2, 3, 12, 5)
    found = nisqa.pool_columns(x, ((0, 2), (1, 4), (3, 5)))
    torch.testing.assert_close(found, torch.nn.functional.adaptive_max_pool2d(x, (6, 3)))
    x = seeded(2, 3, 48, 15)
    found = torch.nn.functional.max_pool2d(x, (2, 3), stride=2)
    torch.testing.assert_close(found, torch.nn.functional.adaptive_max_pool2d(x, (24, 7)))


@check
def warping_moves_a_picture() -> None:
    picture = seeded(1, 3, 12, 20)
    flow = torch.zeros(1, 2, 12, 20)
    torch.testing.assert_close(rife.warp(picture, flow), picture, rtol=1e-4, atol=1e-4)
    flow[:, 0] = 3
    torch.testing.assert_close(rife.warp(picture, flow)[..., :-3], picture[..., 3:], rtol=1e-4, atol=1e-4)
    flow[:, 0], flow[:, 1] = 0, -2
    torch.testing.assert_close(rife.warp(picture, flow)[:, :, 2:], picture[:, :, :-2], rtol=1e-4, atol=1e-4)


@check
def blurring_halves_and_keeps_a_constant() -> None:
    found = stlpips.blurred(torch.full((1, 4, 9, 12), 2.5), 4)
    assert found.shape == (1, 4, 6, 7)
    torch.testing.assert_close(found, torch.full((1, 4, 6, 7), 2.5))


def main() -> None:
    """Run every check; a failure is told on stderr in full and on stdout in one line."""
    for name, function in CHECKS.items():
        try:
            function()
            outcome = "ok"
        except Exception as error:
            traceback.print_exc()
            outcome = f"{type(error).__name__}: {error}".replace("\n", " ")
        print(f"{name}\t{outcome}", flush=True)


if __name__ == "__main__":
    main()
