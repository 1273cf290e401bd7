"""TFLite files of one operator, written with the schema package: the smallest inputs that the converter can have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flatbuffers
import numpy as np
import tflite

VERSIONS = {tflite.BuiltinOperator.DEQUANTIZE: 3, tflite.BuiltinOperator.RESIZE_BILINEAR: 3}
"""The first versions that know float16 and half-pixel centres."""

TYPES = {np.float32: 0, np.float16: 1, np.int32: 2}


class FlatModel:
    """One input `x` [1, H, W, C], constants, one operator (after DEQUANTIZE of float16 weights) and one output `y`."""

    def __init__(self, input_shape: tuple[int, ...]) -> None:
        self.input_shape = input_shape
        self.output_shape = input_shape
        self.builder = flatbuffers.Builder(0)
        self.buffers: list[bytes] = [b""]
        self.tensors: list[tuple[str, tuple[int, ...], int, int]] = [("x", input_shape, 0, 0)]
        self.operators: list[tuple[int, list[int], list[int], int, int]] = []

    # ------------------------------------------------------------------------------------------------ operators

    def convolution(self, weight: Any, bias: Any, stride: int, padding: int, activation: int = 0) -> None:
        """CONV_2D with weights [out, h, w, in]."""
        b = self.builder
        tflite.Conv2DOptionsStart(b)
        tflite.Conv2DOptionsAddPadding(b, padding)
        tflite.Conv2DOptionsAddStrideH(b, stride)
        tflite.Conv2DOptionsAddStrideW(b, stride)
        tflite.Conv2DOptionsAddFusedActivationFunction(b, activation)
        options = tflite.Conv2DOptionsEnd(b)
        size = self._reduced(weight.shape[1:3], stride, padding)
        inputs = [0, self._weights(weight), self._weights(bias)]
        self._operator("CONV_2D", inputs, (1, *size, weight.shape[0]), options, "Conv2DOptions")

    def depthwise(self, weight: Any, bias: Any, stride: int) -> None:
        """DEPTHWISE_CONV_2D with weights [1, h, w, channels], SAME padding, multiplier 1."""
        b = self.builder
        tflite.DepthwiseConv2DOptionsStart(b)
        tflite.DepthwiseConv2DOptionsAddStrideH(b, stride)
        tflite.DepthwiseConv2DOptionsAddStrideW(b, stride)
        tflite.DepthwiseConv2DOptionsAddDepthMultiplier(b, 1)
        options = tflite.DepthwiseConv2DOptionsEnd(b)
        size = self._reduced(weight.shape[1:3], stride, tflite.Padding.SAME)
        inputs = [0, self._weights(weight), self._weights(bias)]
        self._operator("DEPTHWISE_CONV_2D", inputs, (1, *size, weight.shape[3]), options, "DepthwiseConv2DOptions")

    def max_pool(self, side: int, stride: int, padding: int) -> None:
        """MAX_POOL_2D."""
        b = self.builder
        tflite.Pool2DOptionsStart(b)
        tflite.Pool2DOptionsAddPadding(b, padding)
        tflite.Pool2DOptionsAddStrideH(b, stride)
        tflite.Pool2DOptionsAddStrideW(b, stride)
        tflite.Pool2DOptionsAddFilterHeight(b, side)
        tflite.Pool2DOptionsAddFilterWidth(b, side)
        options = tflite.Pool2DOptionsEnd(b)
        size = self._reduced((side, side), stride, padding)
        self._operator("MAX_POOL_2D", [0], (1, *size, self.input_shape[3]), options, "Pool2DOptions")

    def pad(self, amounts: Sequence[tuple[int, int]]) -> None:
        """PAD with zeros."""
        shape = tuple(size + sum(both) for size, both in zip(self.input_shape, amounts, strict=True))
        inputs = [0, self._constant(np.array(amounts, np.int32))]
        tflite.PadOptionsStart(self.builder)
        self._operator("PAD", inputs, shape, tflite.PadOptionsEnd(self.builder), "PadOptions")

    def prelu(self, slopes: Any) -> None:
        """PRELU."""
        self._operator("PRELU", [0, self._constant(slopes)], self.input_shape)

    def resize(self, height: int, width: int, align_corners: bool = False) -> None:
        """RESIZE_BILINEAR."""
        inputs = [0, self._constant(np.array([height, width], np.int32))]
        tflite.ResizeBilinearOptionsStart(self.builder)
        tflite.ResizeBilinearOptionsAddAlignCorners(self.builder, align_corners)
        tflite.ResizeBilinearOptionsAddHalfPixelCenters(self.builder, not align_corners)
        options = tflite.ResizeBilinearOptionsEnd(self.builder)
        shape = (1, height, width, self.input_shape[3])
        self._operator("RESIZE_BILINEAR", inputs, shape, options, "ResizeBilinearOptions")

    def reshape(self, shape: tuple[int, ...]) -> None:
        """RESHAPE."""
        self._operator("RESHAPE", [0, self._constant(np.array(shape, np.int32))], shape)

    def unary(self, code: int) -> None:
        """An operator without options that keeps the shape."""
        self._operator(tflite.opcode2name(code), [0], self.input_shape)

    # ---------------------------------------------------------------------------------------------------- pieces

    def _reduced(self, kernel: Sequence[int], stride: int, padding: int) -> tuple[int, ...]:
        same = padding == tflite.Padding.SAME
        sizes = zip(self.input_shape[1:3], kernel, strict=True)
        return tuple(-(-(size if same else size - side + 1) // stride) for size, side in sizes)

    def _constant(self, values: Any) -> int:
        self.buffers.append(values.tobytes())
        kind = TYPES[values.dtype.type]
        self.tensors.append((f"c{len(self.tensors)}", values.shape, kind, len(self.buffers) - 1))
        return len(self.tensors) - 1

    def _weights(self, values: Any) -> int:
        """A constant; float16 goes through DEQUANTIZE, as converted models have it."""
        stored = self._constant(values)
        if values.dtype != np.float16:
            return stored
        self.tensors.append((f"d{len(self.tensors)}", values.shape, 0, 0))
        self.operators.append((tflite.BuiltinOperator.DEQUANTIZE, [stored], [len(self.tensors) - 1], 0, 0))
        return len(self.tensors) - 1

    def _operator(
        self, name: str, inputs: list[int], shape: tuple[int, ...], options: int = 0, kind: str | None = None
    ) -> None:
        self.output_shape = shape
        self.tensors.append(("y", shape, 0, 0))
        code = getattr(tflite.BuiltinOperator, name)
        option_kind = getattr(tflite.BuiltinOptions, kind) if kind else 0
        self.operators.append((code, inputs, [len(self.tensors) - 1], options, option_kind))

    # -------------------------------------------------------------------------------------------------- the file

    def content(self) -> bytes:
        """The bytes of the file."""
        b = self.builder
        buffers = self._offsets([self._buffer(content) for content in self.buffers])
        tensors = self._offsets([self._tensor(*item) for item in self.tensors])
        operators = self._offsets([self._written(at, *item[1:]) for at, item in enumerate(self.operators)])
        ends = self._numbers([0]), self._numbers([len(self.tensors) - 1])
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddInputs(b, ends[0])
        tflite.SubGraphAddOutputs(b, ends[1])
        tflite.SubGraphAddOperators(b, operators)
        graphs = self._offsets([tflite.SubGraphEnd(b)])
        codes = self._offsets([self._code(item[0]) for item in self.operators])
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, 3)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, graphs)
        tflite.ModelAddBuffers(b, buffers)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def _numbers(self, values: Sequence[int]) -> int:
        return int(self.builder.CreateNumpyVector(np.array(values, np.int32)))

    def _offsets(self, values: Sequence[int]) -> int:
        self.builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.builder.PrependUOffsetTRelative(value)
        return int(self.builder.EndVector())

    def _buffer(self, content: bytes) -> int:
        data = self.builder.CreateByteVector(content) if content else None
        tflite.BufferStart(self.builder)
        if data is not None:
            tflite.BufferAddData(self.builder, data)
        return int(tflite.BufferEnd(self.builder))

    def _tensor(self, name: str, shape: tuple[int, ...], kind: int, buffer: int) -> int:
        text, sizes = self.builder.CreateString(name), self._numbers(shape)
        tflite.TensorStart(self.builder)
        tflite.TensorAddShape(self.builder, sizes)
        tflite.TensorAddType(self.builder, kind)
        tflite.TensorAddBuffer(self.builder, buffer)
        tflite.TensorAddName(self.builder, text)
        return int(tflite.TensorEnd(self.builder))

    def _written(self, at: int, inputs: list[int], outputs: list[int], options: int, kind: int) -> int:
        sources, results = self._numbers(inputs), self._numbers(outputs)
        tflite.OperatorStart(self.builder)
        tflite.OperatorAddOpcodeIndex(self.builder, at)
        tflite.OperatorAddInputs(self.builder, sources)
        tflite.OperatorAddOutputs(self.builder, results)
        if kind:
            tflite.OperatorAddBuiltinOptionsType(self.builder, kind)
            tflite.OperatorAddBuiltinOptions(self.builder, options)
        return int(tflite.OperatorEnd(self.builder))

    def _code(self, code: int) -> int:
        tflite.OperatorCodeStart(self.builder)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(self.builder, min(code, 127))
        tflite.OperatorCodeAddBuiltinCode(self.builder, code)
        tflite.OperatorCodeAddVersion(self.builder, VERSIONS.get(code, 1))
        return int(tflite.OperatorCodeEnd(self.builder))
