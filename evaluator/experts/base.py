"""What an expert is: one model family that turns views of a clip into a feature.

An expert is one module `evaluator/experts/<id>.py` that binds its class to the name `EXPERT`; the entry of the same id
in `models/models.lock.json` names its weights and capability. It never opens a media file and never sees another clip.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from evaluator.media.types import ClipInfo, FrameTap
from evaluator.runtime.session import SessionSource
from evaluator.schema import ExpertNeed, Need, View


class Expert:
    """Base class. Subclasses set the class variables, say what they need and implement `run` (or `tap`).

    One instance serves a whole process and several threads: sessions are opened lazily through `sessions` (which caches
    and locks), and `run` keeps no state.
    """

    id: ClassVar[str]
    """Module name, lock entry and name in records."""
    version: ClassVar[int] = 1
    """Raised when the arithmetic changes so that a value can change."""
    capability: ClassVar[str]
    """What it answers; experts with equal capability return the same feature type from `features`."""
    on_device: ClassVar[bool] = False
    """Whether it takes pictures as tensors in device memory (`evaluator.runtime.arrays`) where the decoder has left
    them there. What it does to them on the host all the same is counted; what it returns is in host memory."""

    def __init__(self, sessions: SessionSource) -> None:
        self.sessions = sessions

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        """Named inputs of `run`. A pair expert asks for each of `want.roles`."""
        raise NotImplementedError

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> Any:
        """The feature. Raises NotApplicable (no audio, too short ...) or ExpertError (the output is unusable)."""
        raise NotImplementedError


class StreamingExpert(Expert):
    """An expert that watches every frame of one view as it passes, so that a long clip is never held in memory.

    Its `needs` is empty; it works on `want.roles[0]`.
    """

    def view(self, want: ExpertNeed) -> View:
        """The view to watch."""
        raise NotImplementedError

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> FrameTap:
        """A fresh tap for one clip. Its `close` returns the feature."""
        raise NotImplementedError

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {}
