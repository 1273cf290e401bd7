"""From a lock's contract to what an engine needs: a range for every open dimension, and a batch to compare on.

The lock names open dimensions; the name says how far they reach, unless the file has `ranges` of its own. Numbers of
the comparison are drawn from a seed that is the file's own contract, so that every machine compares on the same batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evaluator.runtime.backends import Network
from evaluator.runtime.engine_build import Profile, ShapeRange
from evaluator.runtime.lock import ModelFile, Tensor
from evaluator.runtime.session import Array
from evaluator.schema import digest, to_tree

RANGES: Mapping[str, tuple[int, int, int]] = {
    "batch": (1, 8, 32),
    "height": (64, 512, 1088),  # all multiples of 64: networks that halve a picture six times take them
    "width": (64, 896, 1920),
    "frames": (2, 100, 600),
    "samples": (512, 160_000, 1_920_000),
    "segments": (1, 250, 1300),
    "tokens": (1, 16, 256),
    "objects": (1, 4, 32),
}
"""Open dimension -> smallest, likeliest and largest size. A name that is not here has no engine, and says so."""

TOLERANCE = {"float32": (0.9999, 5e-3), "float16": (0.999, 5e-2), "uint8": (0.9999, 6.0)}
"""Element type of the first input, or of an output in bytes -> least cosine, greatest difference, between an engine and
the CPU. Bytes are levels of a quantised network: ONNX Runtime's integer kernels lie up to 5 of them from the operators
as they are defined (YAMNet, 21 inputs), which is what an engine computes.
"""

Ranges = Mapping[str, tuple[int, int, int]]


def network(file: ModelFile, path: Path) -> Network:
    """How a file of the lock is built and compared. A dimension of unknown range leaves it without an engine."""
    fed = [tensor for tensor in file.inputs if tensor.always is None]
    always = {tensor.name: np.array(tensor.always, tensor.dtype) for tensor in file.inputs if tensor not in fed}
    profile = reach(file)
    rng = np.random.default_rng(int(digest(to_tree(file.inputs))[:16], 16))
    probe = {tensor.name: _numbers(tensor, rng, {**RANGES, **file.ranges}) for tensor in fed}
    kinds = ("uint8" if any(tensor.dtype == "uint8" for tensor in file.outputs) else file.inputs[0].dtype, "float32")
    cosine, furthest = next(TOLERANCE[kind] for kind in kinds if kind in TOLERANCE)
    return Network(path, profile, {**probe, **always}, cosine, furthest, always)


def reach(file: ModelFile) -> Profile:
    """Input -> the shapes that calls give it, fixed ones too; empty if the range of a dimension is not known."""
    ranges = {**RANGES, **file.ranges}
    fed = [tensor for tensor in file.inputs if tensor.always is None]
    if not {size for tensor in fed for size in tensor.shape if isinstance(size, str)} <= ranges.keys():
        return {}
    return {tensor.name: _range(tensor, ranges) for tensor in fed}


def _range(tensor: Tensor, ranges: Ranges) -> ShapeRange:
    low, best, high = (
        tuple(ranges[size][place] if isinstance(size, str) else size for size in tensor.shape) for place in range(3)
    )
    return ShapeRange(low, best, high)


def _numbers(tensor: Tensor, rng: np.random.Generator, ranges: Ranges) -> Array:
    """Seeded numbers of the smallest shape: 0..1, bytes, or 0 and 1 for integers and truth values.

    The first of these is 1: of no segments, or with everything masked, a network may answer with no number.
    """
    shape = tuple(ranges.get(size, (1, 2, 2))[0] if isinstance(size, str) else size for size in tensor.shape)
    kind = tensor.dtype.split(" or ")[0]
    if kind.startswith("float"):
        return rng.random(shape).astype(kind)
    if kind == "uint8":
        return rng.integers(0, 256, shape).astype(kind)
    found = rng.integers(0, 2, shape).astype(kind)
    found.flat[:1] = 1
    return found
