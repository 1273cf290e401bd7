"""Sessions without a network: they honour a contract, remember what they were fed, and answer by a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evaluator.runtime.session import Array, Session


class FakeSession:
    """Answers `respond(feeds)`. `inputs` maps a name to (shape, element type)."""

    provider = "fake"

    def __init__(
        self,
        respond: Callable[[Mapping[str, Array]], Mapping[str, Any]],
        outputs: Sequence[str] = (),
        inputs: Mapping[str, tuple[Sequence[int | str | None], str]] | None = None,
    ) -> None:
        self._respond = respond
        self.outputs = outputs
        self.inputs = inputs or {}
        self.fed: list[Mapping[str, Array]] = []

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        self.fed.append(feeds)
        return {name: np.asarray(value) for name, value in self._respond(feeds).items()}


class FakeSource:
    """A SessionSource over sessions by file name, and data files by file name."""

    def __init__(self, sessions: Mapping[str, Session], paths: Mapping[str, Path] | None = None) -> None:
        self._sessions = sessions
        self._paths = paths or {}

    def session(self, model: str, file: str) -> Session:
        return self._sessions[file]

    def path(self, model: str, file: str) -> Path:
        return self._paths[file]
