"""What of an ONNX graph can be computed before it is fed: constants, the sizes of fixed shapes, branches always taken.

Computes with ONNX's own reference operators, in numpy. Changes a loaded model in place and leaves what depends on an
input alone. Knows nothing about TensorRT.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from evaluator.errors import EngineError
from evaluator.runtime.arrays import Array

NOT_FOLDED = {"If", "Loop", "Scan", "RandomNormal", "RandomUniform", "Bernoulli", "Multinomial"}


class OnnxMissing(EngineError):
    """Nothing is said against a network: this machine lacks what looks into its file."""


def library(name: str = "onnx") -> Any:
    """The onnx package, or a module of it. Raises OnnxMissing where it is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise OnnxMissing("onnx, which looks for what TensorRT would refuse in a file, is not installed") from error


def constants(model: Any) -> dict[str, Array]:
    """Name -> numbers of everything in the main graph that does not depend on an input."""
    convert = library("onnx.numpy_helper").to_array
    found = {item.name: convert(item) for item in model.graph.initializer}
    for node in model.graph.node:
        if node.op_type == "Constant" and node.attribute and node.attribute[0].name == "value":
            found[node.output[0]] = convert(node.attribute[0].t)
    return found


def fold(model: Any) -> bool:
    """Replace every node that can be computed by its numbers. Whether there was one."""
    shapes, known = fixed_shapes(model), constants(model)
    opsets = {item.domain: item.version for item in model.opset_import}
    kept: list[Any] = []
    computed: dict[str, Array] = {}
    for node in model.graph.node:
        numbers = _computed(node, known, shapes, opsets)
        if numbers is None:
            kept.append(node)
        known |= numbers or {}
        computed |= numbers or {}
    replace_nodes(model, kept)
    convert = library("onnx.numpy_helper").from_array
    model.graph.initializer.extend(convert(value, name) for name, value in computed.items())
    return bool(computed)


def take_branches(model: Any) -> bool:
    """Replace every `If` whose condition is a constant by the nodes of its branch. Whether there was one.

    Raises EngineError if a name of the branch exists outside of it, which another exporter may do.
    """
    known, found, changed = constants(model), [], False
    for node in model.graph.node:
        if node.op_type == "If" and node.input[0] in known:
            changed = True
            found += _branch(model, node, bool(known[node.input[0]].item()))
        else:
            found.append(node)
    replace_nodes(model, found)
    return changed


def prune(model: Any) -> None:
    """Drop nodes and constants from which no output is computed."""
    wanted = {output.name for output in model.graph.output}
    kept = []
    for node in reversed(model.graph.node):
        if wanted.intersection(node.output):
            kept.append(node)
            wanted.update(read_by(node))
    replace_nodes(model, kept[::-1])
    left = [item for item in model.graph.initializer if item.name in wanted]
    _replace(model.graph.initializer, left)


def fixed_shapes(model: Any) -> dict[str, tuple[int, ...]]:
    """Name -> shape of the tensors of the main graph whose every size is known."""
    graph = library("onnx.shape_inference").infer_shapes(model, data_prop=True).graph
    found = {}
    for value in (*graph.input, *graph.value_info, *graph.output):
        tensor = value.type.tensor_type
        if tensor.HasField("shape") and all(dim.HasField("dim_value") for dim in tensor.shape.dim):
            found[value.name] = tuple(dim.dim_value for dim in tensor.shape.dim)
    return found


def read_by(node: Any) -> Iterator[str]:
    """Names that a node reads, those that the graphs inside it take from outside included."""
    yield from node.input
    for attribute in node.attribute:
        for inner in attribute.g.node:
            yield from read_by(inner)
        yield from (output.name for output in attribute.g.output)


def replace_nodes(model: Any, nodes: Iterable[Any]) -> None:
    """Put these nodes in the place of those of the main graph."""
    _replace(model.graph.node, nodes)


def _replace(field: Any, items: Iterable[Any]) -> None:
    """The items may be messages of the field itself, so they are copied before it is emptied."""
    copies = [type(item).FromString(item.SerializeToString()) for item in items]
    del field[:]
    field.extend(copies)


def _computed(
    node: Any, known: dict[str, Array], shapes: dict[str, tuple[int, ...]], opsets: dict[str, int]
) -> dict[str, Array] | None:
    """The outputs of a node, or None if they depend on an input."""
    if node.op_type == "Shape" and node.input[0] in shapes:
        bounds = {item.name: item.i for item in node.attribute}
        sizes = shapes[node.input[0]][bounds.get("start", 0) : bounds.get("end")]
        return {node.output[0]: np.array(sizes, np.int64)}
    feeds = {name: known[name] for name in node.input if name in known}
    if node.op_type in NOT_FOLDED or len(feeds) < len({name for name in node.input if name}):
        return None
    evaluator = library("onnx.reference").ReferenceEvaluator(node, opsets=opsets)
    return dict(zip(node.output, evaluator.run(None, feeds), strict=True))


def _branch(model: Any, node: Any, condition: bool) -> list[Any]:
    """The nodes of one branch, and the names under which the rest of the graph reads its outputs."""
    wanted = "then_branch" if condition else "else_branch"
    (graph,) = [attribute.g for attribute in node.attribute if attribute.name == wanted]
    made = {name for one in model.graph.node for name in one.output} | {item.name for item in model.graph.initializer}
    own = {name for one in graph.node for name in one.output} | {item.name for item in graph.initializer}
    if clash := sorted(made & own):
        raise EngineError(f"{node.name}: {clash[0]} has a meaning inside of this branch and another one outside")
    model.graph.initializer.extend(graph.initializer)
    identity = library("onnx.helper").make_node
    named = [
        identity("Identity", [inner.name], [outer]) for inner, outer in zip(graph.output, node.output, strict=True)
    ]
    return [*graph.node, *named]
