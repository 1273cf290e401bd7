"""What an export recipe is: verified weight files in, ONNX files out, with proof that both compute the same.

A recipe is one module `export/recipes/<model id>.py`. That of an embedded model has `build(sources, out) ->
list[Parity]`: it writes the files that the lock entry of the model lists under `files` into the folder `out`. That of a
reference model has `networks(sources)` and `tiny()`, both lists of `export.network.Network`: the published network, and
the same architecture at a tiny configuration with random weights, which proves the way where no weights are at hand
(`tiny(sources)` where the architecture comes out of a code package). A recipe with a `build` may say in `HALF` how a
file is halved (`export.half.Half`), where the usual way or tolerance is not its own.
Torch files are read with `weights_only=True` only. The recipes are the only code that needs torch on a CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol

Precision = Literal["fp32", "fp16"]
"""What a file computes in. Inputs and outputs are those of the contract either way."""


class Sources(Protocol):
    """The verified inputs of one recipe, as its lock entry lists them under `sources`."""

    def file(self, name: str) -> Path:
        """A weight or data file: a member of a registry package, or a file that the user mounted."""

    def module(self, package: str, name: str, stubs: Sequence[str] = ()) -> ModuleType:
        """Import a network definition from a hash-locked package, with empty modules in place of `stubs`."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a file was fed, and what its origin answers."""

    feeds: Mapping[str, Any]
    expected: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parity:
    """How far an exported file is from its origin on the same input."""

    file: str
    output: str
    max_abs: float
    tolerance: float
    call: Call | None = field(default=None, compare=False, repr=False)

    @property
    def numbers(self) -> dict[str, Any]:
        """What a report says of it: everything but the call."""
        return {"file": self.file, "output": self.output, "max_abs": self.max_abs, "tolerance": self.tolerance}

    @property
    def passed(self) -> bool:
        """True if the largest difference is within the stated tolerance."""
        return self.max_abs <= self.tolerance


Build = Callable[[Sources, Path], list[Parity]]


def compare(
    path: Path,
    feeds: Mapping[str, Any],
    expected: Mapping[str, Any],
    tolerance: float,
    settle: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None,
) -> list[Parity]:
    """Run an ONNX file on the CPU and measure every output against arrays computed by the origin.

    With `settle`, the file's outputs go through it first, and the tolerance is a fraction of the largest magnitude of
    each expected output. Every expected output must exist with the same shape; otherwise ValueError.
    """
    import numpy as np

    from evaluator.runtime.onnx import OnnxSession

    call, found = Call(feeds, expected), OnnxSession(path).run(feeds)
    settled = found if settle is None else settle(found)
    rows = []
    for name, want in expected.items():
        want, has = np.asarray(want), np.asarray(settled[name])
        if has.shape != want.shape:
            raise ValueError(f"{path.name}: output {name} has shape {has.shape}, the origin gives {want.shape}")
        allowed = tolerance if settle is None else tolerance * float(np.abs(want).max())
        rows.append(Parity(path.name, name, float(np.abs(has - want).max()), allowed, call))
    return rows
