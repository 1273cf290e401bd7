"""Rewrites of an ONNX graph that TensorRT refuses as it lies. Each computes what the graph computed.

TensorRT has no quantisation with a zero point, no bytes but at the edges of a network, no 8-bit constant that is not
scaled at once, no squeeze that chooses its axes itself, and takes no branch whose sides have other ranks. A rewrite
changes a loaded model in place; `needs` says for a file whether it has anything to do there. The numbers stay those of
the ONNX operators; float32 sums may end in another last digit. Knows nothing about TensorRT's interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.runtime.arrays import Array
from evaluator.runtime.engine_fold import constants, fixed_shapes, fold, library, replace_nodes, take_branches

VERSION = 2
"""Raised when a rewrite makes another graph than before: engines of the old one are built again."""

UINT8, INT8, FLOAT = 2, 3, 1  # TensorProto


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One idea: when a graph needs it, and what is done."""

    name: str
    needs: Callable[[Any], bool]
    apply: Callable[[Any], None]


# --------------------------------------------------------------------------------------------------------- branches


def _has_branch(model: Any) -> bool:
    return any(node.op_type == "If" for node in model.graph.node)


def _settle_branches(model: Any) -> None:
    """Compute conditions from constants and fixed sizes, and put the branch that is taken in the place of the `If`."""
    while fold(model) | take_branches(model):
        pass


# ---------------------------------------------------------------------------------------------------- 8-bit constants


def _has_loose_bytes(model: Any) -> bool:
    """Whether an 8-bit constant is read by anything but a quantising node."""
    bytes_of = {item.name for item in model.graph.initializer if item.data_type in (UINT8, INT8)}
    readers = [node for node in model.graph.node if node.op_type not in ("QuantizeLinear", "DequantizeLinear")]
    return any(name in bytes_of for node in readers for name in node.input)


def _widen(model: Any) -> None:
    """Scale 8-bit constants now: what the file does in its first nodes is done once, in float32."""
    fold(model)


# ------------------------------------------------------------------------------------------------------ quantisation


def _has_zero_points(model: Any) -> bool:
    """Whether something is quantised to bytes without a sign, or around another number than zero."""
    held = {item.name: item for item in model.graph.initializer}
    points = [node.input[2] for node in model.graph.node if _quantises(node) and len(node.input) > 2]
    return any(held[name].data_type == UINT8 or _shifts(held[name]) for name in points if name in held)


def _shifts(zero: Any) -> bool:
    """Whether a zero point that lies in the file itself is another number than zero."""
    return zero.data_location == 0 and bool(library("onnx.numpy_helper").to_array(zero).any())


def _quantises(node: Any) -> bool:
    return node.op_type in ("QuantizeLinear", "DequantizeLinear")


def _quantise_in_floats(model: Any) -> None:
    """Weights become what they stand for; levels of activations stay whole numbers, held in float32.

    QuantizeLinear is clip(round(x / scale) + zero), DequantizeLinear is (level - zero) * scale: no bytes are needed.
    """
    fold(model)
    known = constants(model)
    edges = {tensor.name: tensor.type.tensor_type.elem_type for tensor in (*model.graph.input, *model.graph.output)}
    found = []
    for node in model.graph.node:
        plain = _quantises(node) and len(node.input) > 2 and all(_is_scalar(known, name) for name in node.input[1:])
        if not plain:
            found.append(node)
        elif node.op_type == "QuantizeLinear":
            found += _chain(model, node, _levels(node, known, edges.get(node.output[0])))
        else:
            found += _chain(model, node, _values(node, known, node.input[0] in edges))
    replace_nodes(model, found)


def _is_scalar(known: Mapping[str, Array], name: str) -> bool:
    return name in known and known[name].size == 1


Steps = Sequence[tuple[str, Sequence[float], Mapping[str, Any]]]
"""Operators that follow each other: name, further operands, attributes."""


def _levels(node: Any, known: Mapping[str, Array], edge: int | None) -> Steps:
    """x -> its level; a byte of type `edge` where it leaves the network."""
    scale, zero = known[node.input[1]].item(), known[node.input[2]]
    limits = np.iinfo(zero.dtype)
    steps: Steps = [
        ("Div", [scale], {}),
        ("Round", [], {}),
        ("Add", [zero.item()], {}),
        ("Clip", [limits.min, limits.max], {}),
    ]
    return [*steps, ("Cast", [], {"to": edge})] if edge is not None else steps


def _values(node: Any, known: Mapping[str, Array], at_edge: bool) -> Steps:
    """A level -> what it stands for; a byte where it comes into the network."""
    scale, zero = known[node.input[1]].item(), known[node.input[2]].item()
    steps: Steps = [("Sub", [zero], {}), ("Mul", [scale], {})]
    return [("Cast", [], {"to": FLOAT}), *steps] if at_edge else steps


def _chain(model: Any, node: Any, steps: Steps) -> list[Any]:
    """Nodes one after the other from a node's first input to its output."""
    make, convert = library("onnx.helper").make_node, library("onnx.numpy_helper").from_array
    found, last = [], node.input[0]
    for place, (operator, operands, attributes) in enumerate(steps):
        step = f"{node.output[0]}/{place}"  # not after the node: names of nodes need not be unique
        names = [f"{step}.{rank}" for rank in range(len(operands))]
        held = zip(names, operands, strict=True)
        model.graph.initializer.extend(convert(np.array(value, np.float32), name) for name, value in held)
        found.append(make(operator, [last, *names], [step], step, **attributes))
        last = step
    found[-1].output[0] = node.output[0]
    return found


# ------------------------------------------------------------------------------------------------------------- axes


def _has_free_squeeze(model: Any) -> bool:
    return any(_chooses(node) for node in model.graph.node)


def _chooses(node: Any) -> bool:
    """Whether a squeeze drops whatever has size one."""
    given = len(node.input) > 1 or any(attribute.name == "axes" for attribute in node.attribute)
    return node.op_type == "Squeeze" and not given


def _write_axes(model: Any) -> None:
    """Say which axes a squeeze drops, where every size is fixed."""
    shapes = fixed_shapes(model)
    versions = {item.domain: item.version for item in model.opset_import}
    for node in model.graph.node:
        if not _chooses(node) or node.input[0] not in shapes:
            continue
        axes = [axis for axis, size in enumerate(shapes[node.input[0]]) if size == 1]
        if versions[""] < 13:
            node.attribute.append(library("onnx.helper").make_attribute("axes", axes))
        else:
            name = f"{node.output[0]}/axes"
            node.input.append(name)
            model.graph.initializer.append(library("onnx.numpy_helper").from_array(np.array(axes, np.int64), name))


REWRITES = (
    Rewrite("branches that are always taken", _has_branch, _settle_branches),
    Rewrite("8-bit constants in float32", _has_loose_bytes, _widen),
    Rewrite("quantisation in float32", _has_zero_points, _quantise_in_floats),
    Rewrite("axes of squeezes", _has_free_squeeze, _write_axes),
)
"""In this order: what a branch hides is found once it is taken."""
