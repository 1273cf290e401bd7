"""Small ONNX files that mix element types, written as protocol buffers by hand: y = transpose(x) w.

python -m tests.runtime.mixed FILE TYPE      open the file as a run does, and print y of ones as JSON
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from evaluator.runtime.onnx import OnnxSession

TYPES = {"float32": 1, "int64": 7, "float16": 10}
WIDTH, COLUMNS = 8, 3
INTS, INT = 7, 2  # attribute types of ONNX: a list of integers, an integer


def crossing(path: Path, kind: str, cast: bool) -> Path:
    """x [batch, 1, 8] of a type, transposed, cast to float32 or not, times w [8, 3] of twos, to y [1, batch, 3]."""
    last = "float32" if cast else kind
    turned = message((1, "x"), (2, "t"), (4, "Transpose"), (5, attribute("perm", INTS, (8, 1), (8, 0), (8, 2))))
    nodes = [turned]
    if cast:
        nodes.append(message((1, "t"), (2, "c"), (4, "Cast"), (5, attribute("to", INT, (3, TYPES[last])))))
    nodes.append(message((1, "c" if cast else "t"), (1, "w"), (2, "y"), (4, "MatMul")))
    twos = np.full((WIDTH, COLUMNS), 2, last).tobytes()
    weights = message((1, WIDTH), (1, COLUMNS), (2, TYPES[last]), (8, "w"), (9, twos))
    given, made = value("x", kind, ("batch", 1, WIDTH)), value("y", last, (1, "batch", COLUMNS))
    graph = message(*((1, node) for node in nodes), (2, "g"), (5, weights), (11, given), (12, made))
    path.write_bytes(message((1, 9), (7, graph), (8, message((1, ""), (2, 17)))))
    return path


def attribute(name: str, kind: int, *fields: tuple[int, int]) -> bytes:
    return message((1, name), *fields, (20, kind))


def value(name: str, kind: str, shape: tuple[int | str, ...]) -> bytes:
    sizes = [(1, message((2 if isinstance(size, str) else 1, size))) for size in shape]
    return message((1, name), (2, message((1, message((1, TYPES[kind]), (2, message(*sizes)))))))


def message(*fields: tuple[int, int | str | bytes]) -> bytes:
    """Fields by number, in order: integers as they are, text and messages with their length."""
    found = b""
    for number, content in fields:
        if isinstance(content, int):
            found += varint(number << 3) + varint(content)
        else:
            data = content.encode() if isinstance(content, str) else content
            found += varint(number << 3 | 2) + varint(len(data)) + data
    return found


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def main() -> None:
    """Open, run, print."""
    session = OnnxSession(Path(sys.argv[1]))
    found = session.run({"x": np.ones((2, 1, WIDTH), sys.argv[2])})["y"]
    json.dump(found.tolist(), sys.stdout)


if __name__ == "__main__":
    main()
