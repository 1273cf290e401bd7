"""The passes over files that a run makes, written down while it makes them, so that they can be made again alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evaluator.media.decode import Decoded
from evaluator.media.decode_device import Placed
from evaluator.media.reading import Reading
from evaluator.media.types import ClipInfo, FrameChunk, FrameTap
from evaluator.runner.equipment import Equipment
from evaluator.schema import AudioView, View


@dataclass(frozen=True, slots=True)
class Drain:
    """A tap that takes its pictures where another one took them, and drops them."""

    on_device: bool
    account: str

    def push(self, chunk: FrameChunk) -> None:
        """Drop them."""

    def close(self) -> None:
        """There is nothing to give."""

    def restart(self, clip: ClipInfo) -> None:
        """There is nothing to forget."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What was asked of one file."""

    path: Path
    info: ClipInfo
    taps: tuple[tuple[View, Drain], ...]
    audio: tuple[AudioView, ...]

    def again(self, tools: Equipment) -> Decoded:
        """Decode the file as it was, for nobody."""
        return tools.decode(self.path, self.info, self.taps, self.audio)


@dataclass(slots=True)
class Passes:
    """Everything that one device decoded for a run. Safe for several threads."""

    tools: Equipment
    made: list[Pass] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def equipment(self) -> Equipment:
        """The same device, watched."""
        return replace(self.tools, decode=self._decode)

    def _decode(
        self, file: Path | Reading, info: ClipInfo, taps: Sequence[tuple[View, FrameTap]], audio: Sequence[AudioView]
    ) -> Decoded:
        path = file.path if isinstance(file, Reading) else file
        seen = Pass(path, info, tuple((view, _like(tap)) for view, tap in taps), tuple(audio))
        with self._lock:
            self.made.append(seen)
        return self.tools.decode(file, info, taps, audio)


def _like(tap: FrameTap) -> Drain:
    return Drain(tap.on_device, tap.account) if isinstance(tap, Placed) else Drain(on_device=False, account="")
