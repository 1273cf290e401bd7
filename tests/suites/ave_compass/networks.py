"""Small random ONNX files that honour a contract of the model lock: written here byte by byte, so no package is needed.

Every network is linear in the mean of each input: output = bias + sum of mean(input) times a random vector. The frame
interpolation is the mean of its two frames instead, and the face detector finds what is red.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
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


def integers(name: str, values: Sequence[int]) -> bytes:
    """An attribute: one integer, or a list of them where ONNX wants a list."""
    listed = len(values) > 1 or name == "axes"
    kind, many = (7, b"".join(_number(8, value) for value in values)) if listed else (2, _number(3, values[0]))
    return _bytes(5, _bytes(1, name) + many + _number(20, kind))


def node(kind: str, inputs: Iterable[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(_bytes(1, name) for name in inputs) + _bytes(2, output)
    return _bytes(1, named + _bytes(4, kind) + b"".join(attributes))


def constant(name: str, value: np.ndarray) -> bytes:
    """A float32 initialiser."""
    shape = b"".join(_number(1, size) for size in value.shape)
    return _bytes(5, shape + _number(2, FLOAT) + _bytes(8, name) + _bytes(9, value.astype("<f4").tobytes()))


def _value(field: int, tensor: Tensor) -> bytes:
    dimensions = b"".join(
        _bytes(1, _number(1, size) if isinstance(size, int) else _bytes(2, size)) for size in tensor.shape
    )
    kind = _number(1, ELEMENT[tensor.dtype]) + _bytes(2, dimensions)
    return _bytes(field, _bytes(1, tensor.name) + _bytes(2, _bytes(1, kind)))


def model(file: ModelFile, body: bytes) -> bytes:
    ends = b"".join(_value(11, one) for one in file.inputs) + b"".join(_value(12, one) for one in file.outputs)
    graph = body + _bytes(2, file.name) + ends
    return _number(1, IR_VERSION) + _bytes(8, _bytes(1, "") + _number(2, OPSET)) + _bytes(7, graph)


def _mean_of(tensor: Tensor) -> bytes:
    """`<name>_mean` [batch, 1] of an input of any element type."""
    name, axes = tensor.name, range(1, len(tensor.shape))
    reduce = integers("axes", axes), integers("keepdims", [1])
    return (
        node("Cast", [name], f"{name}_float", integers("to", [FLOAT]))
        + node("ReduceMean", [f"{name}_float"], f"{name}_flat", *reduce)
        + _whole_numbers(f"{name}_shape", (-1, 1))
        + node("Reshape", [f"{name}_flat", f"{name}_shape"], f"{name}_mean")
    )


def linear(file: ModelFile, seed: int, scale: float, bias: float) -> bytes:
    """A file whose outputs [batch, D] or [batch] are random linear maps of the inputs' means."""
    rng = np.random.default_rng(seed)
    body = b"".join(_mean_of(tensor) for tensor in file.inputs)
    for output in file.outputs:
        size = output.shape[-1] if len(output.shape) > 1 else 1
        assert isinstance(size, int)
        name = output.name
        body += constant(f"{name}_0", np.full((1, size), bias) + scale * rng.standard_normal((1, size)))
        for step, tensor in enumerate(file.inputs):
            body += constant(f"{name}_w{step}", scale * rng.standard_normal((1, size)))
            body += node("MatMul", [f"{tensor.name}_mean", f"{name}_w{step}"], f"{name}_p{step}")
            body += node("Add", [f"{name}_{step}", f"{name}_p{step}"], f"{name}_{step + 1}")
        last = f"{name}_{len(file.inputs)}"
        if len(output.shape) > 1:
            body += node("Identity", [last], name)
        else:
            body += node("Squeeze", [last, "one"], name)
    body += _whole_numbers("one", (1,))
    return model(file, body)


def halfway(file: ModelFile) -> bytes:
    """(first + second) / 2 for pictures of any size."""
    body = (
        constant("half", np.array([0.5], np.float32))
        + node("Add", [tensor.name for tensor in file.inputs], "sum")
        + node("Mul", ["sum", "half"], file.outputs[0].name)
    )
    return model(file, body)


POOLS = ((2, 0, 0), (2, 0, 0), (2, 0, 1), (2, 0, 0), (2, 0, 0), (3, 1, 0), (3, 1, 0))
"""(kernel, padding, whether the size is rounded up) of S3FD's ways from one map to the next; all with a stride of 2."""
FACE_MAPS = (1, 2, 3, 4, 5, 6)
"""After which of them a map is looked at."""


def red_faces(file: ModelFile, level: int = 2, offsets: Sequence[float] = (0.0, 0.0, 0.0, 0.0)) -> bytes:
    """S3FD's contract for any size: on map `level`, a cell whose mean red level is above 123 is the middle of a face.

    Every anchor has the same offsets.
    """
    body = _whole_numbers("flat", (0, 0, -1))
    seen: dict[str, list[str]] = {"offsets": [], "scores": []}
    before = file.inputs[0].name
    for step, (kernel, padding, up) in enumerate(POOLS):
        shape = integers("kernel_shape", [kernel] * 2), integers("strides", [2, 2]), integers("pads", [padding] * 4)
        body += node("AveragePool", [before], f"map{step}", *shape, integers("ceil_mode", [up]))
        before = f"map{step}"
        if step in FACE_MAPS:
            face = (1.0, 0.0) if FACE_MAPS.index(step) == level else (0.0, -50.0)
            heads = {"offsets": ([0.0] * 4, offsets), "scores": ((0.0, face[0]), (0.0, face[1]))}
            for head, (slopes, biases) in heads.items():
                body += _head(f"{head}{step}", before, slopes, biases)
                seen[head].append(f"{head}{step}_by_anchor")
    for head, parts in seen.items():
        body += node("Concat", parts, head, integers("axis", [1]))
    return model(file, body)


def _head(name: str, seen: str, slopes: Sequence[float], biases: Sequence[float]) -> bytes:
    """`<name>_by_anchor` [1, H W, n]: bias plus slope times the first channel of a map, per position."""
    kernel = np.zeros((len(slopes), 3, 1, 1))
    kernel[:, 0, 0, 0] = slopes
    return (
        constant(f"{name}_kernel", kernel)
        + constant(f"{name}_bias", np.array(biases))
        + node("Conv", [seen, f"{name}_kernel", f"{name}_bias"], f"{name}_map")
        + node("Reshape", [f"{name}_map", "flat"], f"{name}_flat")
        + node("Transpose", [f"{name}_flat"], f"{name}_by_anchor", integers("perm", [0, 2, 1]))
    )


def _whole_numbers(name: str, values: Sequence[int]) -> bytes:
    """An int64 initialiser."""
    data = struct.pack(f"<{len(values)}q", *values)
    return _bytes(5, _number(1, len(values)) + _number(2, 7) + _bytes(8, name) + _bytes(9, data))


SPECIAL: Mapping[str, Callable[[ModelFile], bytes]] = {"frame_interpolation": halfway, "face_clips": red_faces}
"""Capability -> its network, where a linear one would not do."""


def mount(lock: Lock, folder: Path, models: Iterable[str]) -> Path:
    """Files of these models under `folder`, as a person would mount them."""
    for seed, name in enumerate(models):
        entry = lock[name]
        for file in entry.files:
            path = folder / name / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            made = SPECIAL.get(entry.capability)
            path.write_bytes(made(file) if made else linear(file, seed, scale=0.1, bias=5.0))
    return folder
