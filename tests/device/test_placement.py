"""Who gets pictures where: the engine with a decoder that leaves them on a device, a toy one, and fake experts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.experts.base import Expert
from evaluator.media.decode import decode
from evaluator.media.decode_device import Placed
from evaluator.media.types import FrameChunk
from evaluator.metrics.base import Metric, Outcome
from evaluator.runner.engine import Engine, Work
from evaluator.runner.equipment import CPU, Equipment
from evaluator.runner.telemetry import Telemetry
from evaluator.schema import ExpertNeed, FramesNeed, Need
from tests.device.accounts import amounts
from tests.runner.clips import clip
from tests.runner.fakes import SMALL, World, case, metric


class Elsewhere:
    """An array that numpy does not know, as far as experts can see."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.shape = data, data.shape

    def __len__(self) -> int:
        return len(self.data)

    def __setitem__(self, key: Any, value: Elsewhere) -> None:
        self.data[key] = value.data

    def new_empty(self, shape: tuple[int, ...]) -> Elsewhere:
        return Elsewhere(np.empty(shape, self.data.dtype))

    def cpu(self) -> Elsewhere:
        return self

    def numpy(self) -> np.ndarray:
        return self.data.copy()


class Sees(Expert):
    """Which kind of array it was given, as a word, and its mean."""

    id = capability = "sees"
    on_device = True

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": FramesNeed(SMALL, want.roles[0])}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> tuple[str, float]:
        data = inputs["frames"].data
        mean = (data.data if isinstance(data, Elsewhere) else data).mean()
        return type(data).__name__, float(mean)


class Reads(Sees):
    """The same, on the host only."""

    id = capability = "reads"
    on_device = False


class SeesBoth(Sees):
    """A pair expert."""

    id = capability = "sees_both"

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {role: FramesNeed(SMALL, role) for role in want.roles}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> tuple[str, float]:
        kinds = {type(inputs[role].data).__name__ for role in want.roles}
        return "/".join(kinds), 0.0


class Lifted:
    """Passes the chunks of a tap on to it, on its device if it says so."""

    def __init__(self, tap: Any) -> None:
        self._tap = tap

    def push(self, chunk: FrameChunk) -> None:
        assert isinstance(self._tap, Placed)
        data: Any = Elsewhere(np.array(chunk.data)) if self._tap.on_device else chunk.data
        self._tap.push(FrameChunk(data, chunk.index, chunk.time))


def on_toy(path: Path, info: Any, taps: Any, audio: Any) -> Any:
    return decode(path, info, [(view, Lifted(tap)) for view, tap in taps], audio)


TOY = Equipment(device="toy", decode=on_toy)
SEEN = metric("seen", {"found": ExpertNeed("sees")}, lambda found: Outcome(found[1], details={"kind": found[0]}))
READ = metric("read", {"found": ExpertNeed("reads")}, lambda found: Outcome(found[1], details={"kind": found[0]}))
BOTH = metric(
    "both",
    {"found": ExpertNeed("sees_both", ("video", "source"))},
    lambda found: Outcome(0.0, details={"kind": found[0]}),
)
BARE = metric(
    "bare",
    {"frames": FramesNeed(SMALL)},
    lambda frames: Outcome(float(frames.data.mean()), details={"kind": type(frames.data).__name__}),
)


def scored(paths: Mapping[str, Path], equipment: Equipment, *metrics: Metric) -> tuple[dict[str, Any], Any]:
    """(kind of array and value by metric, bytes by account)."""
    world, telemetry = World(), Telemetry()
    world.experts |= {kind.id: kind(None) for kind in (Sees, Reads, SeesBoth)}  # type: ignore[arg-type]
    planner = world.planner()
    one = case("one", paths["video"], paths.get("source"))
    jobs = tuple(planner.job(one, own, {role: str(path) for role, path in paths.items()}) for own in metrics)
    engine = Engine(
        planner, world.experts.__getitem__, {str(path): path for path in paths.values()}, telemetry, equipment=equipment
    )
    found: dict[str, Any] = {}
    engine.run(
        [Work("one", jobs)],
        1,
        lambda _, scores: found.update({score.metric: (score.details.get("kind"), score.value) for score in scores}),
    )
    return found, telemetry.facts().get("traffic", {})


@pytest.fixture
def paths(tmp_path: Path) -> dict[str, Path]:
    return {name: clip(tmp_path / f"{name}.mp4", seed=seed) for seed, name in enumerate(("video", "source"))}


PICTURES = 6 * 16 * 16 * 3  # bytes of the view: every fifth of thirty frames


def test_an_expert_on_the_device_gets_pictures_there_and_nothing_crosses(paths: dict[str, Path]) -> None:
    found, moved = scored(paths, TOY, SEEN)
    assert found["seen"][0] == "Elsewhere"
    assert moved == {"expert/sees": amounts(pictures_on_device=6)}


def test_others_that_want_the_same_view_get_it_on_the_host_and_are_charged(paths: dict[str, Path]) -> None:
    found, moved = scored(paths, TOY, SEEN, READ, BARE)
    assert {name: kind for name, (kind, _) in found.items()} == {
        "seen": "Elsewhere",
        "read": "ndarray",
        "bare": "ndarray",
    }
    assert len({value for _, value in found.values()}) == 1
    assert moved == {
        "expert/sees": amounts(pictures_on_device=6),
        "expert/reads": amounts(bytes_to_host=PICTURES),
        "metric/bare": amounts(bytes_to_host=PICTURES),
    }


def test_a_view_that_nobody_takes_there_is_handed_out_on_the_host(paths: dict[str, Path]) -> None:
    found, moved = scored(paths, TOY, READ, BARE)
    assert {kind for kind, _ in found.values()} == {"ndarray"}
    assert moved == {}  # the toy decoder does not count


def test_both_clips_of_a_pair_stay(paths: dict[str, Path]) -> None:
    found, moved = scored(paths, TOY, BOTH)
    assert found["both"][0] == "Elsewhere"
    assert moved == {"expert/sees_both": amounts(pictures_on_device=12)}


def test_on_the_cpu_everything_is_an_array_and_has_the_same_numbers(paths: dict[str, Path]) -> None:
    here, moved = scored(paths, CPU, SEEN, READ, BARE, BOTH)
    there, _ = scored(paths, TOY, SEEN, READ, BARE, BOTH)
    assert {kind for kind, _ in here.values()} == {"ndarray"}
    assert moved == {}
    assert {name: value for name, (_, value) in here.items()} == {name: value for name, (_, value) in there.items()}
