"""One interface to whatever runs a network: named arrays in, named arrays out.

Knows nothing about what a network means. `SessionSource` opens a file of a model by its name in the lock, verifies it
first, and keeps one session per process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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
        """Run once. Raises ExpertError if an output is not finite."""


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
        padding = np.zeros((size - len(chunk), *batch.shape[1:]), batch.dtype)
        found = session.run({name: np.concatenate([chunk, padding]) if len(padding) else chunk})
        parts.append({key: value[: len(chunk)] for key, value in found.items()})
    return {key: np.concatenate([part[key] for part in parts]) for key in session.outputs}
