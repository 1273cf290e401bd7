"""ONNX files with a few nodes, written byte by byte: what honours a contract of the lock without any weights.

The dev environment has ONNX Runtime and no `onnx` package, so the protocol buffers are spelled out: field numbers are
those of onnx.proto3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE

TYPES: dict[Any, int] = {np.dtype(np.float32): 1, np.dtype(np.int64): 7}
OPSET, IR = 17, 8


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def number(place: int, value: int) -> bytes:
    return varint(place << 3) + varint(value)


def data(place: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(place << 3 | 2) + varint(len(raw)) + raw


def tensor(name: str, value: np.ndarray[Any, Any]) -> bytes:
    """A TensorProto."""
    dims = b"".join(number(1, size) for size in value.shape)
    return dims + number(2, TYPES[value.dtype]) + data(8, name) + data(9, value.tobytes())


def port(name: str, kind: Any, shape: Sequence[int | str]) -> bytes:
    """A ValueInfoProto."""
    dims = b"".join(data(1, number(1, one) if isinstance(one, int) else data(2, one)) for one in shape)
    return data(1, name) + data(2, data(1, number(1, TYPES[np.dtype(kind)]) + data(2, dims)))


def node(kind: str, inputs: Iterable[str], output: str, **attributes: int | Sequence[int]) -> bytes:
    """A NodeProto with whole numbers for attributes."""
    written = b"".join(data(1, name) for name in inputs) + data(2, output) + data(4, kind)
    for name, value in attributes.items():
        one = isinstance(value, int)
        told = number(3, value) if isinstance(value, int) else b"".join(number(8, item) for item in value)
        written += data(5, data(1, name) + told + number(20, 2 if one else 7))
    return written


@dataclass
class Net:
    """A graph: inputs and outputs as (name, element type, shape), constants by name."""

    inputs: Sequence[tuple[str, Any, Sequence[int | str]]]
    outputs: Sequence[tuple[str, Any, Sequence[int | str]]]
    nodes: Sequence[bytes]
    constants: dict[str, np.ndarray[Any, Any]] = field(default_factory=dict)

    def write(self, path: Path) -> None:
        graph = b"".join(data(1, one) for one in self.nodes) + data(2, "net")
        graph += b"".join(data(5, tensor(name, value)) for name, value in self.constants.items())
        graph += b"".join(data(11, port(*one)) for one in self.inputs)
        graph += b"".join(data(12, port(*one)) for one in self.outputs)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(number(1, IR) + data(7, graph) + data(8, data(1, "") + number(2, OPSET)))


F32, I64 = np.float32, np.int64


def detector(score: float = 0.9) -> Net:
    """One box, the left half of every picture, whatever the phrase."""
    return Net(
        [("pixels", F32, [1, 3, "height", "width"]), ("input_ids", I64, [1, "tokens"])],
        [("score", F32, [1, "queries"]), ("boxes", F32, [1, "queries", 4])],
        [node("Identity", ["s"], "score"), node("Identity", ["b"], "boxes")],
        {"s": np.array([[score]], F32), "b": np.array([[[0.25, 0.5, 0.5, 1.0]]], F32)},
    )


def memory_width() -> int:
    """How long the lock says that an object's memory is; any length but that of a box where it leaves it open."""
    (start,) = [file for file in read_lock(LOCK_FILE)["sam2"].files if file.name == "sam2_start.onnx"]
    width = next(item.shape[1] for item in start.outputs if item.name == "memory")
    return width if isinstance(width, int) else 6


def tracker(memory_in: str) -> Net:
    """The left half for every object. Its memory is its box with zeros behind it, and goes on."""
    width = memory_width()
    given = 4 if memory_in == "boxes" else width
    masks = np.where(np.arange(256) < 128, 1.0, -1.0).astype(F32)  # [256]
    return Net(
        [("pixels", F32, [1, 3, 1024, 1024]), (memory_in, F32, ["objects", given])],
        [("masks", F32, ["objects", 256, 256]), ("memory", F32, ["objects", width])],
        [
            node("Pad", [memory_in, "pads"], "memory"),
            node("ReduceMean", [memory_in], "one", axes=[1], keepdims=1),  # [K, 1]
            node("Unsqueeze", ["one", "axis"], "per_object"),  # [K, 1, 1]
            node("Mul", ["per_object", "zero"], "nothing"),
            node("Add", ["nothing", "half"], "masks"),  # [K, 256, 256]
        ],
        {
            "axis": np.array([2], I64),
            "pads": np.array([0, 0, 0, width - given], I64),
            "zero": np.zeros(1, F32),
            "half": np.broadcast_to(masks, (1, 256, 256)).copy(),
        },
    )


def embedder(output: str = "embedding") -> Net:
    """Mean colours in 384 dimensions."""
    return Net(
        [("pixels", F32, ["batch", 3, 224, 224])],
        [(output, F32, ["batch", 384])],
        [
            node("ReduceMean", ["pixels"], "colours", axes=[2, 3], keepdims=0),
            node("MatMul", ["colours", "spread"], output),
        ],
        {"spread": np.random.default_rng(0).standard_normal((3, 384)).astype(F32)},
    )


def mount(models: Path) -> None:
    """The three models of SRC, in the folder that --models names."""
    detector().write(models / "grounding_dino" / "grounding_dino.onnx")
    (models / "grounding_dino" / "vocab.txt").write_text("[CLS]\n[SEP]\n[UNK]\n.\n")
    tracker("boxes").write(models / "sam2" / "sam2_start.onnx")
    tracker("past").write(models / "sam2" / "sam2_step.onnx")
    embedder().write(models / "dinov2_small" / "dinov2_small.onnx")
