"""An engine for the calls that it was built for, and another session for the rest, which is opened when it is needed.

An engine has a range of shapes; a clip may be longer or larger than it was thought likely. Such a call is computed all
the same, and said once. Inputs that always hold one number are no longer in the engine, and are checked here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluator.runtime.arrays import Array, to_host
from evaluator.runtime.engine_build import Profile
from evaluator.runtime.session import OnDevice, Session
from evaluator.runtime.tensorrt import TensorRtSession


class WithinReach:
    """One network as a Session. `note` is told once why the engine did not take a call."""

    def __init__(
        self,
        engine: TensorRtSession,
        profile: Profile,
        always: Mapping[str, Array],
        otherwise: Callable[[], Session],
        note: Callable[[str], None],
    ) -> None:
        self._engine, self._profile, self._always = engine, profile, always
        self._otherwise, self._note = otherwise, note
        self._other: Session | None = None
        self._turn = threading.Lock()
        self.file, self.provider, self.outputs = engine.file, engine.provider, engine.outputs
        self.inputs: Mapping[str, tuple[Sequence[int | str | None], str]] = {
            **{name: (len(shape) * [None], kind) for name, (shape, kind) in engine.inputs.items()},  # any size is taken
            **{name: (value.shape, value.dtype.name) for name, value in always.items()},
        }

    def run(self, feeds: Mapping[str, Array]) -> dict[str, Array]:
        """Arrays of the host or of the device in, of the host out. Raises ExpertError if an output is not finite."""
        if reason := self.beyond(feeds):
            return self._fallen(reason).run(feeds)
        return self._engine.run(self._left(feeds))

    def leave(self, feeds: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
        """Run once; the named outputs where they were computed. Raises ExpertError if one is not finite."""
        reason = self.beyond(feeds)
        if not reason:
            return self._engine.leave(self._left(feeds), shapes)
        other = self._fallen(reason)
        if isinstance(other, OnDevice):
            return other.leave(feeds, shapes)
        found = other.run(feeds)
        return {name: found[name] for name in shapes}

    def beyond(self, feeds: Mapping[str, Any]) -> str:
        """Why the engine cannot take a call; empty if it can."""
        for name, value in self._always.items():
            if name in feeds and not np.array_equal(to_host(feeds[name]), value):
                return f"{name} is {to_host(feeds[name]).tolist()}, and the engine was built for {value.tolist()}"
        for name, shapes in self._profile.items():
            shape = tuple(feeds[name].shape) if name in feeds else shapes.low
            inside = len(shape) == len(shapes.low) and all(
                low <= size <= high for low, size, high in zip(shapes.low, shape, shapes.high, strict=True)
            )
            if not inside:
                built = f"{list(shapes.low)} to {list(shapes.high)}"
                return f"{name} of shape {list(shape)} is outside of what the engine was built for, {built}"
        return ""

    def _left(self, feeds: Mapping[str, Any]) -> dict[str, Any]:
        return {name: array for name, array in feeds.items() if name not in self._always}

    def _fallen(self, reason: str) -> Session:
        with self._turn:
            if self._other is None:
                self._note(reason)
                self._other = self._otherwise()
            return self._other
