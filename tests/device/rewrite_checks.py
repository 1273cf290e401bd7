"""Checks that need onnx: run by `test_rewrites.py` in the environment that has it, one line each: name, TAB, ok.

Every rewritten graph is compared with the graph as it was, both on ONNX Runtime without its own rewriting.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from evaluator.errors import EngineError
from evaluator.runtime.arrays import Array
from evaluator.runtime.engine_fit import Sizes, fitted
from evaluator.runtime.engine_fold import fold, take_branches
from tests.device.rtx_build import literal
from tests.export.checks import CHECKS, check, run

FLOAT, INT64, UINT8 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8
Feeds = Mapping[str, Array]


def value(name: str, kind: int, *shape: int | str | None) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def saved(
    path: Path,
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    constants: Feeds | None = None,
    opset: int = 17,
    beside: bool = False,
) -> Path:
    """A checked file of these nodes."""
    held = [numpy_helper.from_array(array, name) for name, array in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", inputs, outputs, held)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, path, save_as_external_data=beside, location="weights.data", size_threshold=0)
    return path


def same(path: Path, sizes: Sizes, always: Feeds, calls: Sequence[Feeds], rewrites: Sequence[str]) -> list[str]:
    """Operators of the rewritten file, after it answered every call with the same numbers."""
    with fitted(path, sizes, always) as fit:
        assert list(fit.rewrites) == list(rewrites), fit.rewrites
        found, wanted = literal(fit.path), literal(path)
        for feeds in calls:
            for one, other in zip(found(feeds, always), wanted(feeds, ()), strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_array_equal(one, other)
        return [node.op_type for node in onnx.load(fit.path).graph.node]


def branch(name: str, operator: str, *inputs: str, output: str = "") -> Any:
    """A graph of one node."""
    out = output or f"{name}_y"
    return helper.make_graph([helper.make_node(operator, inputs, [out])], name, [], [value(out, FLOAT, None)])


def by_rate(path: Path) -> Path:
    """y = exp(x) at 16000, else -x where x has two numbers and |x| where it has more: an `If` in an `If`."""
    inner = helper.make_graph(
        [
            helper.make_node("Shape", ["x"], ["count"]),
            helper.make_node("Equal", ["count", "two"], ["is_two"]),
            helper.make_node(
                "If", ["is_two"], ["inner"], then_branch=branch("a", "Neg", "x"), else_branch=branch("b", "Abs", "x")
            ),
        ],
        "slow",
        [],
        [value("inner", FLOAT, None)],
    )
    nodes = [
        helper.make_node("Equal", ["sr", "fast"], ["is_fast"]),
        helper.make_node("If", ["is_fast"], ["y"], then_branch=branch("c", "Exp", "x"), else_branch=inner),
    ]
    constants = {"fast": np.array(16_000), "two": np.array([2])}
    return saved(path, nodes, [value("x", FLOAT, "n"), value("sr", INT64)], [value("y", FLOAT, "n")], constants)


BRANCHES = "branches that are always taken"


@check
def the_branch_of_the_value_that_is_always_given_is_taken() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, x = by_rate(Path(folder) / "net.onnx"), np.array([-1, 2, 3], np.float32)
        for rate, size, left in ((16_000, None, ["Exp"]), (8000, 3, ["Abs"]), (8000, 2, ["Neg"])):
            sr, fed = np.array(rate), x[: size or 3]
            found = same(path, {"x": [size]}, {"sr": sr}, [{"x": fed, "sr": sr}], [BRANCHES])
            assert [name for name in found if name != "Identity"] == left


@check
def a_branch_that_depends_on_what_is_fed_stays() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, sr = by_rate(Path(folder) / "net.onnx"), np.array(8000)
        calls = [{"x": np.arange(size, dtype=np.float32), "sr": sr} for size in (2, 3)]
        assert "If" in same(path, {"x": [None]}, {"sr": sr}, calls, [BRANCHES])


@check
def a_name_with_two_meanings_is_refused() -> None:
    nodes = [
        helper.make_node("Neg", ["x"], ["a_y"]),
        helper.make_node(
            "If", ["yes"], ["z"], then_branch=branch("a", "Exp", "x"), else_branch=branch("b", "Abs", "x")
        ),
        helper.make_node("Add", ["a_y", "z"], ["y"]),
    ]
    held = [numpy_helper.from_array(np.array(True), "yes")]
    graph = helper.make_graph(nodes, "g", [value("x", FLOAT, 2)], [value("y", FLOAT, 2)], held)
    told = ""
    try:
        take_branches(helper.make_model(graph))
    except EngineError as error:
        told = str(error)
    assert "a_y has a meaning inside of this branch and another one outside" in told


@check
def levels_around_any_zero_are_the_same_levels_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    real = np.concatenate([rng.normal(0, 20, 5000), np.arange(-300, 300) / 2 * np.float32(0.3)]).astype(np.float32)
    for zero in (np.uint8(0), np.uint8(190), np.uint8(255)):
        nodes = [
            helper.make_node("DequantizeLinear", ["bytes", "s", "z"], ["a"], "in"),
            helper.make_node("Add", ["a", "x"], ["b"]),
            helper.make_node("QuantizeLinear", ["b", "s", "z"], ["c"], "q"),
            helper.make_node("DequantizeLinear", ["c", "s", "z"], ["d"], "dq"),
            helper.make_node("Mul", ["d", "d"], ["e"]),
            helper.make_node("QuantizeLinear", ["e", "s", "z"], ["y"], "out"),
        ]
        count = len(real)
        given = [value("bytes", UINT8, count), value("x", FLOAT, count)]
        with tempfile.TemporaryDirectory() as folder:
            constants = {"s": np.array(0.3, np.float32), "z": np.array(zero)}
            path = saved(Path(folder) / "net.onnx", nodes, given, [value("y", UINT8, count)], constants)
            feeds = {"bytes": rng.integers(0, 256, count).astype(np.uint8), "x": real}
            found = same(path, {}, {}, [feeds], ["quantisation in float32"])
            assert not {"QuantizeLinear", "DequantizeLinear"} & set(found)
            assert found.count("Cast") == 2  # bytes come in, and go out


@check
def weights_are_what_their_levels_stand_for() -> None:
    rng = np.random.default_rng(1)
    constants = {
        "w": rng.integers(-128, 128, (4, 3)).astype(np.int8),
        "s": rng.random(4, np.float32),
        "z": np.zeros(4, np.int8),
        "table": rng.integers(-128, 128, (9, 3)).astype(np.int8),
        "scale": rng.random((9, 1), np.float32),
        "one": np.array(0.5, np.float32),
        "q": np.array(7, np.uint8),
    }
    nodes = [
        helper.make_node("Cast", ["table"], ["wide"], to=FLOAT),
        helper.make_node("Mul", ["wide", "scale"], ["words"]),
        helper.make_node("Gather", ["words", "id"], ["word"]),
        helper.make_node("QuantizeLinear", ["word", "one", "q"], ["a"], "q1"),
        helper.make_node("DequantizeLinear", ["a", "one", "q"], ["b"], "q2"),
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["m"], "w1", axis=0),
        helper.make_node("Gemm", ["b", "m"], ["y"], transB=1),
    ]
    with tempfile.TemporaryDirectory() as folder:
        outputs = [value("y", FLOAT, 2, 4)]
        for beside in (False, True):
            path = saved(Path(folder) / "n.onnx", nodes, [value("id", INT64, 2)], outputs, constants, beside=beside)
            told = ["8-bit constants in float32", "quantisation in float32"]
            same(path, {}, {}, [{"id": np.array([8, 3])}], told)


@check
def a_squeeze_says_which_axes_it_drops() -> None:
    x = np.arange(3, dtype=np.float32).reshape(1, 3, 1)
    for opset in (11, 13):
        with tempfile.TemporaryDirectory() as folder:
            nodes = [helper.make_node("Squeeze", ["x"], ["y"], "s")]
            path = saved(
                Path(folder) / "net.onnx", nodes, [value("x", FLOAT, "n", 3, 1)], [value("y", FLOAT, None)], opset=opset
            )
            same(path, {"x": [1, 3, 1]}, {}, [{"x": x}], ["axes of squeezes"])
            with fitted(path, {"x": [1, 3, 1]}, {}) as fit:
                (node,) = onnx.load(fit.path).graph.node
                assert len(node.input) > 1 or list(node.attribute[0].ints) == [0, 2]
            with fitted(path, {"x": [None, 3, 1]}, {}) as fit:  # which axes depends on the call
                (node,) = onnx.load(fit.path).graph.node
                assert len(node.input) + len(node.attribute) == 1


@check
def nodes_without_names_keep_their_own_axes() -> None:
    nodes = [
        helper.make_node("Squeeze", ["x"], ["a"]),
        helper.make_node("Squeeze", ["z"], ["b"]),
        helper.make_node("Sub", ["a", "b"], ["y"]),
    ]
    given = [value("x", FLOAT, 1, 3, 1), value("z", FLOAT, 1, 1, 3)]
    x = np.arange(3, dtype=np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = saved(Path(folder) / "net.onnx", nodes, given, [value("y", FLOAT, None)])
        call = {"x": x.reshape(1, 3, 1), "z": 2 * x.reshape(1, 1, 3)}
        same(path, {"x": [1, 3, 1], "z": [1, 1, 3]}, {}, [call], ["axes of squeezes"])


@check
def a_size_that_the_file_fixes_is_not_written_over() -> None:
    with tempfile.TemporaryDirectory() as folder:
        nodes, given = [helper.make_node("Squeeze", ["x"], ["y"])], [value("x", FLOAT, 2, "n", 1)]
        path = saved(Path(folder) / "net.onnx", nodes, given, [value("y", FLOAT, None)])
        with fitted(path, {"x": [8, 3, 1]}, {}) as fit:
            sizes = onnx.load(fit.path).graph.input[0].type.tensor_type.shape.dim
            assert [size.dim_value for size in sizes] == [2, 3, 1]


@check
def a_size_that_an_exporter_noted_of_one_call_is_not_believed() -> None:
    nodes = [
        helper.make_node("Exp", ["x"], ["e"]),
        helper.make_node("Shape", ["e"], ["sizes"]),
        helper.make_node("Cast", ["sizes"], ["real"], to=FLOAT),
        helper.make_node("ReduceProd", ["real"], ["count"], keepdims=0),
        helper.make_node(
            "If", ["yes"], ["z"], then_branch=branch("a", "Neg", "x"), else_branch=branch("b", "Abs", "x")
        ),
        helper.make_node("Mul", ["count", "z"], ["y"]),
    ]
    held = [numpy_helper.from_array(np.array(True), "yes")]
    noted = [value("e", FLOAT, 1, 3)]
    graph = helper.make_graph(
        nodes, "g", [value("x", FLOAT, "n", 3)], [value("y", FLOAT, "n", 3)], held, value_info=noted
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.onnx"
        onnx.save(model, path)
        calls = [{"x": np.ones((size, 3), np.float32)} for size in (1, 2)]
        assert "Shape" in same(path, {"x": [None, 3]}, {}, calls, [BRANCHES])


@check
def what_needs_no_rewrite_is_built_as_it_lies() -> None:
    with tempfile.TemporaryDirectory() as folder:
        given, made = [value("x", FLOAT, "n")], [value("y", FLOAT, "n")]
        path = saved(Path(folder) / "net.onnx", [helper.make_node("Exp", ["x"], ["y"])], given, made)
        (Path(folder) / "text.onnx").write_text("not a network")
        for one in (path, Path(folder) / "text.onnx"):
            with fitted(one, {"x": [1]}, {}) as fit:
                assert (fit.path, fit.rewrites) == (one, ())


@check
def sizes_and_numbers_of_constants_are_computed_and_nothing_else() -> None:
    nodes = [
        helper.make_node("Shape", ["x"], ["sizes"], start=1),
        helper.make_node("Add", ["sizes", "one"], ["more"]),
        helper.make_node("Cast", ["more"], ["real"], to=FLOAT),
        helper.make_node("Mul", ["x", "real"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [value("x", FLOAT, "n", 3)],
        [value("y", FLOAT, "n", 3)],
        [numpy_helper.from_array(np.array([1]), "one")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    assert not fold(model)  # the first size is open, so the shape is not known as a whole
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2
    assert fold(model)
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    held = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    assert held["real"].tolist() == [4.0]


if __name__ == "__main__":
    run(CHECKS)
