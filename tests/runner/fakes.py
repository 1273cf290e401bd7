"""Experts and metrics with known answers, for tests of the runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.experts.base import Expert, StreamingExpert
from evaluator.media.types import ClipInfo, FrameChunk
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.runner.graph import Graph, Missing
from evaluator.runner.plan import Planner
from evaluator.schema import (
    AudioNeed,
    Case,
    ClipNeed,
    ExpertNeed,
    Fit,
    FramesNeed,
    ModelRef,
    Need,
    Sampling,
    Tier,
    View,
)

SMALL = View(Sampling("every", (5,)), Fit.SQUASH, 16, 16)


class Brightness(Expert):
    """Mean grey level of the clip."""

    id = "brightness"
    capability = "brightness"
    runs = 0

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": FramesNeed(SMALL)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> float:
        type(self).runs += 1
        return float(inputs["frames"].data.mean())


class Difference(Expert):
    """A pair expert on top of another expert."""

    id = "difference"
    capability = "difference"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {role: ExpertNeed("brightness", (role,)) for role in want.roles}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> float:
        return abs(inputs["video"] - inputs["source"])


class Counter(StreamingExpert):
    """How many frames passed."""

    id = "counter"
    capability = "counter"

    def view(self, want: ExpertNeed) -> View:
        return View(fit=Fit.SQUASH, height=16, width=16)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> CountingTap:
        return CountingTap()


class Crash(StreamingExpert):
    """A defect in the middle of a clip."""

    id = "crash"
    capability = "crash"

    def view(self, want: ExpertNeed) -> View:
        return View(fit=Fit.SQUASH, height=16, width=16)

    def tap(self, want: ExpertNeed, clip: ClipInfo) -> CrashingTap:
        return CrashingTap()


@dataclass
class CountingTap:
    seen: int = 0

    def push(self, chunk: FrameChunk) -> None:
        self.seen += len(chunk.index)

    def close(self) -> int:
        return self.seen


@dataclass
class CrashingTap:
    def push(self, chunk: FrameChunk) -> None:
        raise RuntimeError("the model fell over")

    def close(self) -> int:
        return 0


def metric(name: str, needs: Mapping[str, Need], compute: Any, high: float | None = None) -> Metric:
    return Metric(name, 1, name, name, Direction.NONE, (0.0, high), "", "made up", needs, compute)


BRIGHT = metric("bright", {"level": ExpertNeed("brightness")}, lambda level: Outcome(level), 255.0)
MOVED = metric(
    "moved", {"change": ExpertNeed("difference", ("source", "video"))}, lambda change: Outcome(change), 255.0
)
COUNT = metric("count", {"n": ExpertNeed("counter"), "clip": ClipNeed()}, lambda n, clip: Outcome(float(n)))
CRASHES = metric("crashes", {"n": ExpertNeed("crash")}, lambda n: Outcome(float(n)))
NOWHERE = metric("nowhere", {"x": ExpertNeed("telepathy")}, lambda x: Outcome(0.0))
LOUD = metric("loud", {"sound": AudioNeed()}, lambda sound: Outcome(float(abs(sound.samples.astype(int)).max())))
DEFECT = metric("defect", {"level": ExpertNeed("brightness")}, lambda level: Outcome(level / 0))
LIAR = metric("liar", {"level": ExpertNeed("brightness")}, lambda level: Outcome(-1.0))
ALL = (BRIGHT, MOVED, COUNT, CRASHES, NOWHERE, LOUD, DEFECT, LIAR)


@dataclass
class World:
    """Fake experts behind the interfaces that planner and engine use."""

    experts: dict[str, Expert] = field(default_factory=dict)
    digest: str = "0" * 64

    def __post_init__(self) -> None:
        for kind in (Brightness, Difference, Counter, Crash):
            self.experts[kind.id] = kind(None)  # type: ignore[arg-type]

    def serve(self, capability: str) -> Expert | Missing:
        return self.experts.get(capability, Missing("unavailable", f"mount something for {capability}"))

    def model_ref(self, expert: str) -> ModelRef:
        return ModelRef(expert, self.digest, Tier.EMBEDDED)

    def planner(self, profile: str = "paper") -> Planner:
        graph = Graph(self.serve, lambda name: self.experts[name])
        return Planner(graph, self.model_ref, profile, media_version=1)


def case(name: str, video: Path, source: Path | None = None) -> Case:
    return Case(id=name, suite="core", video=video, source=source, system="sys")
