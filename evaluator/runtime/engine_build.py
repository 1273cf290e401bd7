"""TensorRT engines from ONNX files: network, shape profiles, timing cache, serialised plan.

The `tensorrt` module is an argument: the machine that runs engines gives `tensorrt`, a machine without a GPU gives
`tensorrt_rtx_bindings`, which has the same interface and builds without a driver. Networks are strongly typed: the
precision of an engine is the precision of its file. What TensorRT refuses in a file is rewritten first (`engine_fit`).
Builds; never runs an engine, and keeps nothing on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluator.errors import EngineError
from evaluator.runtime.arrays import Array
from evaluator.runtime.engine_fit import fitted

WORKSPACE = 4 << 30
"""Bytes of device memory that a kernel may ask for while it is tried."""

REASON = 300
"""Characters of a parser's reason for one node; the rest repeats source lines of the library."""

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ShapeRange:
    """Smallest, likeliest and largest shape of one input. Kernels are chosen for the likeliest."""

    low: Shape
    best: Shape
    high: Shape


Profile = Mapping[str, ShapeRange]
"""Input name -> shapes: for every input with a dimension that is not fixed in the file, and for others if wanted."""


@dataclass(frozen=True, slots=True)
class Built:
    """A serialised engine and the timings that a later build of the same kind may reuse."""

    plan: bytes
    timings: bytes
    notes: tuple[str, ...] = field(default=())  # warnings of the builder, in order
    rewrites: tuple[str, ...] = field(default=())  # what was not built as it lies in the file
    half: bool = False  # the file computes in float16


def build_engine(
    trt: ModuleType,
    path: Path,
    profile: Profile,
    timings: bytes = b"",
    tf32: bool = False,
    always: Mapping[str, Array] | None = None,
) -> Built:
    """Build the engine of an ONNX file.

    `tf32` lets float32 matrix products lose mantissa bits for speed; off, an fp32 file is computed in fp32. `always`:
    inputs that hold the same number in every call; the engine does not have them any more.
    Raises EngineError that names every node the parser refuses, or the input whose shapes contradict the file.
    """
    with fitted(path, {name: fixed(shapes) for name, shapes in profile.items()}, always or {}) as fit:
        return replace(_built(trt, fit.path, profile, timings, tf32), rewrites=fit.rewrites, half=fit.half)


def fixed(shapes: ShapeRange) -> list[int | None]:
    """Sizes that every call has, None where one may choose."""
    return [low if low == high else None for low, high in zip(shapes.low, shapes.high, strict=True)]


def _built(trt: ModuleType, path: Path, profile: Profile, timings: bytes, tf32: bool) -> Built:
    """The engine of a file as it lies."""
    log = _logger(trt)
    builder = trt.Builder(log)
    network, parser = _parsed(trt, builder, log, path)
    config = builder.create_builder_config()
    config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, WORKSPACE)
    if not tf32:
        config.clear_flag(trt.BuilderFlag.TF32)
    config.add_optimization_profile(_profile(builder, network, profile, path))
    cache = config.create_timing_cache(timings)
    config.set_timing_cache(cache, False)
    plan = builder.build_serialized_network(network, config)
    del parser  # not before: it owns the weights of the network
    if plan is None:  # a failed build is no exception: what went wrong is in the log
        raise EngineError(f"{path.name}: no engine: {'; '.join(log.said(trt.ILogger.ERROR)) or 'no reason given'}")
    return Built(bytes(plan), _timings(config), tuple(log.said(trt.ILogger.WARNING)))


def _parsed(trt: ModuleType, builder: Any, log: Any, path: Path) -> tuple[Any, Any]:
    """(network, the parser that owns its weights)."""
    flags = 1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED)
    network = builder.create_network(flags)
    parser = trt.OnnxParser(network, log)
    if not parser.parse_from_file(str(path)):  # from the file: weights may lie beside it
        reasons = [_refusal(parser.get_error(index)) for index in range(parser.num_errors)]
        raise EngineError(f"{path.name}: cannot be an engine: {'; '.join(reasons) or 'it is not an ONNX file'}")
    return network, parser


def _refusal(error: Any) -> str:
    """One parser error: which node, of which operator, why."""
    where = error.node_name() or f"node {error.node()}"
    return f"{where} ({error.node_operator() or 'graph'}): {' '.join(error.desc().split())[:REASON]}"


def _inputs(network: Any) -> Iterator[tuple[str, Shape]]:
    for index in range(network.num_inputs):
        tensor = network.get_input(index)
        yield tensor.name, tuple(tensor.shape)


def _profile(builder: Any, network: Any, profile: Profile, path: Path) -> Any:
    """An optimisation profile that covers every open input, and names nothing else."""
    found = builder.create_optimization_profile()
    shapes = dict(_inputs(network))
    if strangers := sorted(profile.keys() - shapes.keys()):
        raise EngineError(f"{path.name}: a profile for {', '.join(strangers)}; its inputs are {', '.join(shapes)}")
    for name, shape in shapes.items():
        if name in profile:
            wanted = profile[name]
            _check_shapes(name, shape, wanted, path)
            found.set_shape(name, wanted.low, wanted.best, wanted.high)
        elif -1 in shape:
            raise EngineError(f"{path.name}: input {name} has open dimensions {list(shape)} and no profile")
    return found


def _check_shapes(name: str, shape: Shape, wanted: ShapeRange, path: Path) -> None:
    """The builder says nothing that helps when a profile contradicts the file."""
    for given in (wanted.low, wanted.best, wanted.high):
        fits = len(given) == len(shape) and all(own in (-1, size) for own, size in zip(shape, given, strict=True))
        if not fits:
            raise EngineError(f"{path.name}: input {name} is {list(shape)} in the file, its profile says {list(given)}")
    if any(not low <= best <= high for low, best, high in zip(wanted.low, wanted.best, wanted.high, strict=True)):
        raise EngineError(f"{path.name}: the shapes of {name} must not fall from low to best to high")


def _timings(config: Any) -> bytes:
    cache = config.get_timing_cache()
    return bytes(cache.serialize()) if cache is not None else b""


def _logger(trt: ModuleType) -> Any:
    """A logger that remembers: the builder reports failures nowhere else."""

    class Log(trt.ILogger):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.lines: list[tuple[Any, str]] = []

        def log(self, severity: Any, message: str) -> None:
            if severity in (trt.ILogger.INTERNAL_ERROR, trt.ILogger.ERROR, trt.ILogger.WARNING):
                self.lines.append((severity, " ".join(message.split())))

        def said(self, level: Any) -> list[str]:
            grave = {trt.ILogger.INTERNAL_ERROR, trt.ILogger.ERROR}
            wanted = grave if level in grave else {level}
            return list(dict.fromkeys(text for severity, text in self.lines if severity in wanted))

    return Log()
