"""TFLite -> ONNX for the operators that small convolutional face networks use.

Tensors of rank 4 are kept channels first; a RESHAPE goes back to channels last, because that is the order in which its
author counted. Weights stored as float16 become float32. The batch dimension is free. An operator, type or option that
is not listed here is an error: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import tflite
from onnx import TensorProto, helper, numpy_helper

from evaluator.errors import PrerequisiteError
from export.onnx_file import OPSET, write

NDArray = npt.NDArray[Any]

DTYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}
TO_CHANNELS_FIRST = [0, 3, 1, 2]
TO_CHANNELS_LAST = [0, 2, 3, 1]


class Unsupported(PrerequisiteError):
    """The file uses something that this converter does not know."""

    code = "unsupported"


@dataclass(frozen=True, slots=True)
class Output:
    """How an output of the TFLite file, by its name there, is called in ONNX, and its shape without the batch."""

    tensor: str
    name: str
    shape: tuple[int, ...]


def convert(content: bytes, path: Path, input_name: str, outputs: Sequence[Output]) -> None:
    """Write the ONNX file of a TFLite model with one input. Raises Unsupported."""
    graph = _Graph(content)
    graph.translate()
    write(graph.model(input_name, outputs), path)


class _Graph:
    """One conversion: reads operators in order and collects ONNX nodes and constants."""

    def __init__(self, content: bytes) -> None:
        self.file = tflite.Model.GetRootAsModel(content, 0)
        self.graph = self.file.Subgraphs(0)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.known: dict[int, NDArray] = {}

    def translate(self) -> None:
        """Translate every operator."""
        for position in range(self.graph.OperatorsLength()):
            operator = self.graph.Operators(position)
            code = self.file.OperatorCodes(operator.OpcodeIndex())
            name = tflite.opcode2name(max(code.BuiltinCode(), code.DeprecatedBuiltinCode()))
            if name not in OPERATORS:
                raise Unsupported(f"TFLite operator {name} is not supported")
            OPERATORS[name](self, operator)

    def model(self, input_name: str, outputs: Sequence[Output]) -> onnx.ModelProto:
        """The whole model: channels-first input, then the nodes, then the named outputs."""
        source = int(self.graph.Inputs(0))
        _, height, width, channels = self.shape(source)
        self.nodes.insert(0, helper.make_node("Identity", [input_name], [tensor(source)]))
        positions = {self.graph.Tensors(int(i)).Name().decode(): int(i) for i in self.graph.OutputsAsNumpy()}
        for output in outputs:
            self._finish(positions[output.tensor], output)
        return helper.make_model(
            helper.make_graph(
                self.nodes,
                "tflite",
                [_value(input_name, (channels, height, width))],
                [_value(output.name, output.shape) for output in outputs],
                self.constants,
            ),
            opset_imports=[helper.make_opsetid("", OPSET)],
        )

    def _finish(self, index: int, output: Output) -> None:
        last = self.channels_last(index)
        shape = self.constant(np.array([0, *output.shape], np.int64), f"{output.name}_shape")
        self.nodes.append(helper.make_node("Reshape", [last, shape], [output.name]))

    # ------------------------------------------------------------------------------------------------- reading

    def shape(self, index: int) -> tuple[int, ...]:
        """Shape of a tensor as the file counts it."""
        return tuple(int(size) for size in self.graph.Tensors(index).ShapeAsNumpy())

    def values(self, index: int) -> NDArray:
        """A constant tensor, float16 widened. Raises Unsupported for a tensor that is computed, or of another type."""
        if index not in self.known:
            item = self.graph.Tensors(index)
            raw = self.file.Buffers(item.Buffer()).DataAsNumpy()
            if isinstance(raw, int) or item.Type() not in DTYPES:
                raise Unsupported(f"TFLite tensor {item.Name().decode()} is not a constant of a known type")
            values = np.frombuffer(raw.tobytes(), DTYPES[item.Type()]).reshape(self.shape(index))
            self.known[index] = values.astype(np.float32) if values.dtype == np.float16 else values
        return self.known[index]

    # ------------------------------------------------------------------------------------------------- writing

    def constant(self, values: NDArray, name: str) -> str:
        """Add an initializer and return its name."""
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], output: int, **attributes: Any) -> None:
        """Add a node that computes a tensor of the file."""
        self.nodes.append(helper.make_node(kind, list(inputs), [tensor(output)], **attributes))

    def channels_last(self, index: int) -> str:
        """The name of a tensor in the file's own order."""
        if len(self.shape(index)) != 4:
            return tensor(index)
        name = f"{tensor(index)}_last"
        self.nodes.append(helper.make_node("Transpose", [tensor(index)], [name], perm=TO_CHANNELS_LAST))
        return name


def tensor(index: int) -> str:
    """The ONNX name of a tensor of the file."""
    return f"t{index}"


def _value(name: str, shape: Sequence[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])


def _options(kind: str, operator: Any) -> Any:
    options = getattr(tflite, kind)()
    table = operator.BuiltinOptions()
    options.Init(table.Bytes, table.Pos)
    return options


def _no_activation(options: Any) -> None:
    if options.FusedActivationFunction() != tflite.ActivationFunctionType.NONE:
        raise Unsupported("TFLite fused activations are not supported")


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """TFLite's SAME rule for one axis: (before, after), the odd one after."""
    total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def _window(graph: _Graph, source: int, options: Any, kernel: tuple[int, int]) -> dict[str, Any]:
    """Attributes that convolutions and pools share."""
    _no_activation(options)
    strides = options.StrideH(), options.StrideW()
    pads = [(0, 0), (0, 0)]
    if options.Padding() == tflite.Padding.SAME:
        sizes = graph.shape(source)[1:3]
        pads = [same_padding(*axis) for axis in zip(sizes, kernel, strides, strict=True)]
    (top, bottom), (left, right) = pads
    return {"kernel_shape": kernel, "strides": strides, "pads": [top, left, bottom, right]}


def _convolution(graph: _Graph, operator: Any, kind: str) -> None:
    source, weight, bias = (int(i) for i in operator.InputsAsNumpy())
    options = _options(f"{kind}Options", operator)
    if (options.DilationHFactor(), options.DilationWFactor()) != (1, 1):
        raise Unsupported("TFLite dilated convolutions are not supported")
    values = graph.values(weight)
    depthwise = kind == "DepthwiseConv2D"
    if depthwise and options.DepthMultiplier() != 1:
        raise Unsupported("TFLite depth multipliers other than 1 are not supported")
    # CONV_2D weights are [out, h, w, in]; depthwise ones [1, h, w, out]. ONNX wants [out, in per group, h, w].
    ordered = values.transpose(3, 0, 1, 2) if depthwise else values.transpose(TO_CHANNELS_FIRST)
    output = int(operator.Outputs(0))
    names = [graph.constant(ordered, f"w{output}"), graph.constant(graph.values(bias), f"b{output}")]
    window = _window(graph, source, options, (ordered.shape[2], ordered.shape[3]))
    graph.add("Conv", [tensor(source), *names], output, group=ordered.shape[0] if depthwise else 1, **window)


def _max_pool(graph: _Graph, operator: Any) -> None:
    options = _options("Pool2DOptions", operator)
    source = int(operator.Inputs(0))
    window = _window(graph, source, options, (options.FilterHeight(), options.FilterWidth()))
    graph.add("MaxPool", [tensor(source)], int(operator.Outputs(0)), **window)


def _add(graph: _Graph, operator: Any) -> None:
    _no_activation(_options("AddOptions", operator))
    first, second = (int(i) for i in operator.InputsAsNumpy())
    if graph.shape(first) != graph.shape(second):
        raise Unsupported("TFLite ADD of different shapes is not supported")
    graph.add("Add", [tensor(first), tensor(second)], int(operator.Outputs(0)))


def _relu(graph: _Graph, operator: Any) -> None:
    graph.add("Relu", [tensor(int(operator.Inputs(0)))], int(operator.Outputs(0)))


def _prelu(graph: _Graph, operator: Any) -> None:
    source, slope = (int(i) for i in operator.InputsAsNumpy())
    output = int(operator.Outputs(0))
    slopes = graph.values(slope)  # [1, 1, channels]: shared by all positions
    if slopes.size != slopes.shape[-1]:
        raise Unsupported("TFLite PRELU with slopes per position is not supported")
    graph.add("PRelu", [tensor(source), graph.constant(slopes.reshape(-1, 1, 1), f"a{output}")], output)


def _pad(graph: _Graph, operator: Any) -> None:
    source, amounts = (int(i) for i in operator.InputsAsNumpy())
    output = int(operator.Outputs(0))
    ordered = graph.values(amounts)[TO_CHANNELS_FIRST].T.reshape(-1).astype(np.int64)  # all befores, then all afters
    graph.add("Pad", [tensor(source), graph.constant(ordered, f"p{output}")], output, mode="constant")


def _reshape(graph: _Graph, operator: Any) -> None:
    source, output = int(operator.Inputs(0)), int(operator.Outputs(0))
    shape = graph.shape(output)
    if len(shape) == 4:
        raise Unsupported("TFLite RESHAPE to rank 4 is not supported")
    target = graph.constant(np.array([0, *shape[1:]], np.int64), f"s{output}")
    graph.add("Reshape", [graph.channels_last(source), target], output)


def _concatenation(graph: _Graph, operator: Any) -> None:
    options = _options("ConcatenationOptions", operator)
    _no_activation(options)
    inputs, output = [int(i) for i in operator.InputsAsNumpy()], int(operator.Outputs(0))
    if len(graph.shape(output)) == 4:
        raise Unsupported("TFLite CONCATENATION of rank 4 is not supported")
    graph.add("Concat", [tensor(i) for i in inputs], output, axis=options.Axis())


def _resize(graph: _Graph, operator: Any) -> None:
    options = _options("ResizeBilinearOptions", operator)
    if options.AlignCorners() or not options.HalfPixelCenters():
        raise Unsupported("TFLite RESIZE_BILINEAR is supported with half-pixel centres only")
    source, output = int(operator.Inputs(0)), int(operator.Outputs(0))
    factors = np.divide(graph.shape(output), graph.shape(source))[TO_CHANNELS_FIRST].astype(np.float32)
    scales = graph.constant(factors, f"r{output}")
    mode = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    graph.add("Resize", [tensor(source), "", scales], output, **mode)


def _dequantize(graph: _Graph, operator: Any) -> None:
    """float16 weights to float32: done here, once."""
    graph.known[int(operator.Outputs(0))] = graph.values(int(operator.Inputs(0)))


OPERATORS: dict[str, Callable[[_Graph, Any], None]] = {
    "ADD": _add,
    "CONCATENATION": _concatenation,
    "CONV_2D": lambda graph, operator: _convolution(graph, operator, "Conv2D"),
    "DEPTHWISE_CONV_2D": lambda graph, operator: _convolution(graph, operator, "DepthwiseConv2D"),
    "DEQUANTIZE": _dequantize,
    "MAX_POOL_2D": _max_pool,
    "PAD": _pad,
    "PRELU": _prelu,
    "RELU": _relu,
    "RESHAPE": _reshape,
    "RESIZE_BILINEAR": _resize,
}
