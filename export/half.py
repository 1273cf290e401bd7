"""The float16 copy of an ONNX file: weights and arithmetic in half precision, inputs and outputs as they were.

The conversion is ONNX Runtime's own. Values that float16 cannot hold are clamped to its range by it, which is right for
the minus infinities of attention masks; where it is wrong, a recipe names the nodes that stay in float32.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx

from export.onnx_file import write


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
