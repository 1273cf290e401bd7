"""The float16 copy of an ONNX file: weights and arithmetic in half precision, inputs and outputs as they were.

A GPU may build its engines from such copies; on a CPU they are slower, and nothing there uses them. The conversion is
ONNX Runtime's own. Values that float16 cannot hold are clamped to its range by it, which is right for the minus
infinities of attention masks; where it is wrong, a recipe names the nodes that stay in float32.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx

from export.onnx_file import write
from export.recipe import Parity, compare


@dataclass(frozen=True, slots=True)
class Half:
    """How a file is halved. `tolerance`: largest difference from the origin in float32, as a fraction of the largest
    magnitude of an output. Nodes whose names begin with one of `full` stay in float32.
    """

    tolerance: float = 5e-3
    full: tuple[str, ...] = ()


def halved(source: Path, path: Path, rows: Sequence[Parity], how: Half) -> list[Parity]:
    """Write the float16 copy of a file to `path` and ask it what its float32 rows were asked. One row per output."""
    if path != source:
        shutil.copyfile(source, path)
    halve(path, how.full)
    calls = {id(row.call): row.call for row in rows if row.call is not None and row.file == source.name}
    return [row for call in calls.values() for row in compare(path, call.feeds, call.expected, how.tolerance, dict)]


def halve(path: Path, full: Sequence[str] = ()) -> None:
    """Rewrite a float32 file in float16. Nodes whose names begin with one of `full` are left alone."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    model = onnx.load(path)
    kept = [node.name for node in model.graph.node if node.name.startswith(tuple(full))] if full else []
    write(in_order(convert_float_to_float16(model, keep_io_types=True, node_block_list=kept)), path)


def in_order(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with every node behind those it reads from: the converter puts its casts at the end."""
    nodes = list(model.graph.node)
    makers = {name: place for place, node in enumerate(nodes) for name in node.output}
    order: dict[int, None] = {}
    waiting = list(range(len(nodes)))[::-1]
    while waiting:
        sources = {makers[name] for name in read_by(nodes[waiting[-1]]) if name in makers}
        missing = sorted(sources - order.keys(), reverse=True)
        if missing:
            waiting += missing
        else:
            order.setdefault(waiting.pop())
    sorted_nodes = [onnx.NodeProto.FromString(nodes[place].SerializeToString()) for place in order]
    del model.graph.node[:]
    model.graph.node.extend(sorted_nodes)
    return model


def read_by(node: onnx.NodeProto) -> list[str]:
    """Names that a node reads, those that the graphs inside it take from outside included."""
    inside = [name for one in node.attribute for inner in one.g.node for name in read_by(inner)]
    return [*node.input, *inside]
