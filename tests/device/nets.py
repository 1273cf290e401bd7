"""Small ONNX files, written as protocol buffers by hand: y = 2 x + b on float32, with an open batch.

No `onnx` package is needed: a field is its number and wire type, a length, and bytes.
"""

from __future__ import annotations

from pathlib import Path

FLOAT = 1


def net(path: Path, scale: float = 2.0, width: int = 3, unknown: bool = False) -> Path:
    """Write y = scale * x + b, x [batch, width], b [batch, 1]; or the same with an operator that nobody knows."""
    import struct

    constant = _tensor("k", struct.pack("<f", scale))
    nodes = [
        _node("Nonsense" if unknown else "Mul", ["x", "k"], ["kx"], "scaled"),
        _node("Add", ["kx", "b"], ["y"], "shifted"),
    ]
    graph = b"".join(_field(1, node) for node in nodes) + _field(2, b"net") + _field(5, constant)
    graph += _field(11, _value("x", width)) + _field(11, _value("b", 1)) + _field(12, _value("y", width))
    opset = _field(1, b"") + _number(2, 17)
    path.write_bytes(_number(1, 8) + _field(7, graph) + _field(8, opset))
    return path


def _varint(value: int) -> bytes:
    found = b""
    while value > 127:
        found += bytes([value & 127 | 128])
        value >>= 7
    return found + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _node(operator: str, inputs: list[str], outputs: list[str], name: str) -> bytes:
    names = b"".join(_field(1, one.encode()) for one in inputs) + b"".join(_field(2, one.encode()) for one in outputs)
    return names + _field(3, name.encode()) + _field(4, operator.encode())


def _tensor(name: str, data: bytes) -> bytes:
    return _number(1, 1) + _number(2, FLOAT) + _field(8, name.encode()) + _field(9, data)


def _value(name: str, width: int) -> bytes:
    shape = _field(1, _field(2, b"batch")) + _field(1, _number(1, width))
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, FLOAT) + _field(2, shape)))
