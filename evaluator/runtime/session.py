"""One interface to whatever runs a network: named arrays in, named arrays out.

Knows nothing about what a network means. `SessionSource` opens a file of a model by its name in the lock, verifies it
first, and keeps one session per process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from evaluator.runtime.arrays import Array, filled_up

__all__ = ["Array", "OnDevice", "Session", "SessionSource", "run_padded"]


class Session(Protocol):
    """A loaded network. Safe to call from several threads."""

    @property
    def provider(self) -> str:
        """The execution provider that was obtained, for example "CPUExecutionProvider"."""

    @property
    def inputs(self) -> Mapping[str, tuple[Sequence[int | str | None], str]]:
        """Input name -> (shape, element type)."""

    @property
    def outputs(self) -> Sequence[str]:
        """Output names in order."""

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Run once; the outputs lie in host memory. Raises ExpertError if one is not finite.

        An input may lie in device memory (`evaluator.runtime.arrays`): a session on that device reads it there, any
        other one has it copied to the host.
        """


@runtime_checkable
class OnDevice(Protocol):
    """A session that can also leave its outputs in device memory, for pictures that are not yet numbers."""

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """Run once; the named outputs, of these shapes, as tensors. Raises ExpertError if one is not finite."""


class SessionSource(Protocol):
    """Where experts get their sessions and data files from."""

    def session(self, model: str, file: str) -> Session:
        """The session of one ONNX file of a model, opened on first use. Raises ModelMissing or ModelCorrupt."""

    def path(self, model: str, file: str) -> Path:
        """A verified data file of a model (class names, tables). Raises ModelMissing or ModelCorrupt."""


def run_padded(session: Session, name: str, batch: Array, size: int) -> dict[str, Array]:
    """Run `batch` [N, ...] through a fixed batch of `size` by padding with zeros, and cut the padding off.

    A fixed size keeps a clip's numbers independent of how many frames it has: kernels may be chosen by shape.
    """
    parts = []
    for start in range(0, len(batch), size):
        chunk = batch[start : start + size]
        found = session.run({name: filled_up(chunk, size)})
        parts.append({key: value[: len(chunk)] for key, value in found.items()})
    return {key: np.concatenate([part[key] for part in parts]) for key in session.outputs}
