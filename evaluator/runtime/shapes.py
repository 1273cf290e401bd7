"""From a lock's contract to what an engine needs: a range for every open dimension, and a batch to compare on.

The lock names open dimensions; the name says how far they reach. Numbers of the comparison are drawn from a seed that
is the file's own contract, so that every machine compares on the same batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from evaluator.runtime.backends import Network
from evaluator.runtime.engine_build import ShapeRange
from evaluator.runtime.lock import ModelFile, Tensor
from evaluator.runtime.session import Array
from evaluator.schema import digest, to_tree

RANGES: Mapping[str, tuple[int, int, int]] = {
    "batch": (1, 8, 64),
    "height": (64, 512, 1088),  # all multiples of 64: networks that halve a picture six times take them
    "width": (64, 896, 1920),
    "frames": (2, 100, 600),
    "samples": (512, 160_000, 1_920_000),
    "segments": (1, 250, 1300),
    "tokens": (1, 16, 256),
    "objects": (1, 4, 32),
}
"""Open dimension -> smallest, likeliest and largest size. A name that is not here has no engine, and says so."""

TOLERANCE = {"float32": (0.9999, 5e-3), "float16": (0.999, 5e-2)}
"""Element type of the first input -> least cosine, greatest difference, between an engine and the CPU."""


def network(file: ModelFile, path: Path) -> Network:
    """How a file of the lock is built and compared. A dimension of unknown range leaves it without an engine."""
    named = {size for tensor in file.inputs for size in tensor.shape if isinstance(size, str)}
    known = named <= RANGES.keys()
    profile = {tensor.name: _range(tensor) for tensor in file.inputs if known and _open(tensor)}
    rng = np.random.default_rng(int(digest(to_tree(file.inputs))[:16], 16))
    probe = {tensor.name: _numbers(tensor, rng) for tensor in file.inputs}
    cosine, furthest = TOLERANCE["float16" if file.inputs[0].dtype == "float16" else "float32"]
    return Network(path, profile, probe, cosine, furthest)


def _open(tensor: Tensor) -> bool:
    return any(isinstance(size, str) for size in tensor.shape)


def _range(tensor: Tensor) -> ShapeRange:
    low, best, high = (
        tuple(RANGES[size][place] if isinstance(size, str) else size for size in tensor.shape) for place in range(3)
    )
    return ShapeRange(low, best, high)


def _numbers(tensor: Tensor, rng: np.random.Generator) -> Array:
    """Seeded numbers of the smallest shape that is not one: 0..1, bytes, or 0 and 1 for integers and truth values."""
    shape = tuple(RANGES.get(size, (1, 2, 2))[0] if isinstance(size, str) else size for size in tensor.shape)
    kind = tensor.dtype.split(" or ")[0]
    if kind.startswith("float"):
        return rng.random(shape).astype(kind)
    return rng.integers(0, 256 if kind == "uint8" else 2, shape).astype(kind)
