"""The file that an engine is built from: the ONNX file as it lies or, where TensorRT would refuse it, a copy made fit.

A file that needs no rewrite is not touched and not copied. A copy lies in a temporary folder for as long as it is read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import EngineError
from evaluator.runtime.arrays import Array
from evaluator.runtime.engine_fold import library, prune
from evaluator.runtime.engine_rewrites import REWRITES

FLOAT16 = 10  # TensorProto

Sizes = Mapping[str, Sequence[int | None]]
"""Input -> its sizes, None where a call may choose one."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A file to build from, and what was rewritten in it."""

    path: Path
    rewrites: tuple[str, ...] = ()
    half: bool = False  # weights in float16: so is the arithmetic


@contextmanager
def fitted(path: Path, sizes: Sizes, given: Mapping[str, Array]) -> Iterator[Fitted]:
    """The file to build from. `given`: inputs that always hold one value; the copy no longer has them.

    Raises OnnxMissing where onnx is not installed, EngineError where it cannot rewrite a file that needs it.
    """
    model = _structure(path)
    if model is None or not (given or any(rewrite.needs(model) for rewrite in REWRITES)):
        yield Fitted(path, half=model is not None and _is_half(model))
        return
    names = _rewritten(model, path, sizes, given)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        copy.write_bytes(model.SerializeToString(deterministic=True))
        yield Fitted(copy, names, _is_half(model))


def _rewritten(model: Any, path: Path, sizes: Sizes, given: Mapping[str, Array]) -> tuple[str, ...]:
    """Whatever onnx says against a file, the next session may take it: it is an error of this engine only."""
    try:
        library("onnx").load_external_data_for_model(model, str(path.parent))
        return rewritten(model, sizes, given)
    except EngineError:
        raise
    except Exception as error:  # onnx has no common base of its errors
        raise EngineError(f"{path.name}: cannot be rewritten for TensorRT: {error}") from error


def rewritten(model: Any, sizes: Sizes, given: Mapping[str, Array]) -> tuple[str, ...]:
    """Apply what a loaded model needs, in place. Returns the names of the rewrites."""
    pin(model, sizes, given)
    del model.graph.value_info[:]  # what an exporter noted of one call is no reason to fold; types change as well
    names = []
    for rewrite in REWRITES:
        if rewrite.needs(model):
            rewrite.apply(model)
            names.append(rewrite.name)
    prune(model)
    library("onnx").checker.check_model(model)
    return tuple(names)


def pin(model: Any, sizes: Sizes, given: Mapping[str, Array]) -> None:
    """Write down what is never fed otherwise: fixed sizes of inputs, and inputs that always hold one value."""
    for tensor in model.graph.input:
        for size, dim in zip(sizes.get(tensor.name, ()), tensor.type.tensor_type.shape.dim, strict=False):
            if size is not None and not dim.HasField("dim_value"):  # the builder reports a file that fixes another
                dim.dim_value = size
    free = [tensor for tensor in model.graph.input if tensor.name not in given]
    copies = [type(tensor).FromString(tensor.SerializeToString()) for tensor in free]
    del model.graph.input[:]
    model.graph.input.extend(copies)
    convert = library("onnx.numpy_helper").from_array
    model.graph.initializer.extend(convert(value, name) for name, value in given.items())


def _is_half(model: Any) -> bool:
    return any(item.data_type == FLOAT16 for item in model.graph.initializer)


def _structure(path: Path) -> Any | None:
    """The graph without weights that lie beside it; None for what is no ONNX file, which the parser reports better."""
    try:
        return library("onnx").load(str(path), load_external_data=False)
    except library("google.protobuf.message").DecodeError:
        return None
