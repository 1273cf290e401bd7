"""Small random ONNX files that honour a contract of the model lock: written here byte by byte, so no package is needed.

Every network is linear in the mean of each input: output = bias + sum of mean(input) times a random vector. The frame
interpolation is the mean of its two frames instead.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from evaluator.runtime.lock import Lock, ModelFile, Tensor

IR_VERSION, OPSET = 8, 13
ELEMENT = {"float32": 1, "int64": 7, "bool": 9, "float16 or float32": 1}
"""ONNX's numbers of element types; where two are allowed, the one that a CPU computes with."""
FLOAT = 1


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _integers(name: str, values: Sequence[int]) -> bytes:
    """An attribute: one integer or several."""
    kind, many = (7, b"".join(_number(8, value) for value in values)) if name == "axes" else (2, _number(3, values[0]))
    return _bytes(5, _bytes(1, name) + many + _number(20, kind))


def _node(kind: str, inputs: Iterable[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output)
    return _bytes(1, named + _bytes(4, kind) + b"".join(attributes))


def _constant(name: str, value: np.ndarray) -> bytes:
    """A float32 initialiser."""
    shape = b"".join(_number(1, size) for size in value.shape)
    return _bytes(5, shape + _number(2, FLOAT) + _bytes(8, name) + _bytes(9, value.astype("<f4").tobytes()))


def _value(field: int, tensor: Tensor) -> bytes:
    dimensions = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in tensor.shape
    )
    kind = _number(1, ELEMENT[tensor.dtype]) + _bytes(2, dimensions)
    return _bytes(field, _bytes(1, tensor.name) + _bytes(2, _bytes(1, kind)))


def _model(file: ModelFile, body: bytes) -> bytes:
    ends = b"".join(_value(11, one) for one in file.inputs) + b"".join(_value(12, one) for one in file.outputs)
    graph = body + _bytes(2, file.name) + ends
    return _number(1, IR_VERSION) + _bytes(8, _bytes(1, "") + _number(2, OPSET)) + _bytes(7, graph)


def _mean_of(tensor: Tensor) -> bytes:
    """`<name>_mean` [batch, 1] of an input of any element type."""
    name, axes = tensor.name, range(1, len(tensor.shape))
    reduce = _integers("axes", axes), _integers("keepdims", [1])
    return (
        _node("Cast", [name], f"{name}_float", _integers("to", [FLOAT]))
        + _node("ReduceMean", [f"{name}_float"], f"{name}_flat", *reduce)
        + _constant_shape(f"{name}_shape")
        + _node("Reshape", [f"{name}_flat", f"{name}_shape"], f"{name}_mean")
    )


def _constant_shape(name: str) -> bytes:
    """The int64 initialiser [-1, 1]."""
    data = struct.pack("<qq", -1, 1)
    return _bytes(5, _number(1, 2) + _number(2, 7) + _bytes(8, name) + _bytes(9, data))


def linear(file: ModelFile, seed: int, scale: float, bias: float) -> bytes:
    """A file whose outputs [batch, D] or [batch] are random linear maps of the inputs' means."""
    rng = np.random.default_rng(seed)
    body = b"".join(_mean_of(tensor) for tensor in file.inputs)
    for output in file.outputs:
        size = output.shape[-1] if len(output.shape) > 1 else 1
        assert isinstance(size, int)
        name = output.name
        body += _constant(f"{name}_0", np.full((1, size), bias) + scale * rng.standard_normal((1, size)))
        for step, tensor in enumerate(file.inputs):
            body += _constant(f"{name}_w{step}", scale * rng.standard_normal((1, size)))
            body += _node("MatMul", [f"{tensor.name}_mean", f"{name}_w{step}"], f"{name}_p{step}")
            body += _node("Add", [f"{name}_{step}", f"{name}_p{step}"], f"{name}_{step + 1}")
        last = f"{name}_{len(file.inputs)}"
        if len(output.shape) > 1:
            body += _node("Identity", [last], name)
        else:
            body += _node("Squeeze", [last, "one"], name)
    body += _bytes(5, _number(1, 1) + _number(2, 7) + _bytes(8, "one") + _bytes(9, struct.pack("<q", 1)))
    return _model(file, body)


def halfway(file: ModelFile) -> bytes:
    """(first + second) / 2 for pictures of any size."""
    body = (
        _constant("half", np.array([0.5], np.float32))
        + _node("Add", [tensor.name for tensor in file.inputs], "sum")
        + _node("Mul", ["sum", "half"], file.outputs[0].name)
    )
    return _model(file, body)


def mount(lock: Lock, folder: Path, models: Iterable[str]) -> Path:
    """Files of these models under `folder`, as a person would mount them."""
    for seed, name in enumerate(models):
        entry = lock[name]
        for file in entry.files:
            path = folder / name / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            is_pair = entry.capability == "frame_interpolation"
            path.write_bytes(halfway(file) if is_pair else linear(file, seed, scale=0.1, bias=5.0))
    return folder
