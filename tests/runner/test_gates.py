"""A need with a gate: the model is not run where the gate is shut, and the record says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import NotApplicable
from evaluator.experts.base import Expert
from evaluator.metrics.base import Metric, Outcome
from evaluator.metrics.gates import GATES, Gate
from evaluator.runner import graph, media_unit
from evaluator.runner.engine import Engine, Work
from evaluator.runner.graph import Missing
from evaluator.runner.plan import Planner
from evaluator.runner.telemetry import Telemetry
from evaluator.schema import AudioNeed, ExpertNeed, FramesNeed, Need, Score, Status
from evaluator.suites import suites
from tests.runner.clips import clip
from tests.runner.fakes import SMALL, World, case, metric


class Costly(Expert):
    """An expert that counts how often it is run."""

    id = "costly"
    capability = "costly"
    runs = 0

    def needs(self, want: ExpertNeed) -> Mapping[str, Need]:
        return {"frames": FramesNeed(SMALL)}

    def run(self, want: ExpertNeed, inputs: Mapping[str, Any]) -> float:
        assert set(inputs) == {"frames"}, "what the gate looks at is not the expert's"
        type(self).runs += 1
        return 1.0


def loud_enough(sound: Any, level: float) -> None:
    if abs(sound.samples.astype(int)).max() < 1000:
        raise NotApplicable("not_applicable", "Too quiet to ask.")


GATED = metric("gated", {"found": ExpertNeed("costly", when="loud")}, lambda found: Outcome(found))
OPEN = metric("open", {"found": ExpertNeed("costly")}, lambda found: Outcome(found))


@pytest.fixture(autouse=True)
def gates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gate that looks at the sound and at what another model says."""
    Costly.runs = 0
    made = {"loud": Gate({"sound": AudioNeed(), "level": ExpertNeed("brightness")}, loud_enough)}
    for module in (graph, media_unit):
        monkeypatch.setattr(module, "GATES", made)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("clips")
    made = {"loud": clip(folder / "loud.mp4"), "quiet": clip(folder / "quiet.mp4", level=0.001)}
    return {**made, "mute": clip(folder / "mute.mp4", sound=False)}


def planner() -> Planner:
    world = World()
    world.experts["costly"] = Costly(None)  # type: ignore[arg-type]
    return world.planner()


def scored(path: Path, *metrics: Metric) -> tuple[dict[str, Score], Telemetry]:
    """One clip, whose name stands for its digest."""
    found: dict[str, Score] = {}
    plan, telemetry = planner(), Telemetry()
    jobs = tuple(plan.job(case("one", path), one, {"video": path.name}) for one in metrics)
    experts = {**World().experts, "costly": Costly(None)}  # type: ignore[arg-type]
    engine = Engine(plan, lambda name: experts[name], {path.name: path}, telemetry)
    engine.run([Work("one", jobs)], 1, lambda _, scores: found.update({one.metric: one for one in scores}))
    return found, telemetry


def test_where_the_gate_is_open_the_model_is_run(clips: dict[str, Path]) -> None:
    found, _ = scored(clips["loud"], GATED)
    assert (found["gated"].value, Costly.runs) == (1.0, 1)


def test_where_it_is_shut_the_model_is_not_run_and_the_record_has_the_words_of_the_gate(clips: dict[str, Path]) -> None:
    found, telemetry = scored(clips["quiet"], GATED)
    reason = found["gated"].reason
    assert (found["gated"].status, Costly.runs) == (Status.SKIPPED, 0)
    assert reason is not None
    assert (reason.code, reason.message) == ("not_applicable", "Too quiet to ask.")
    assert telemetry.counters["decode_passes"] == 1


def test_what_the_gate_cannot_look_at_is_the_reason(clips: dict[str, Path]) -> None:
    found, _ = scored(clips["mute"], GATED)
    assert "no audio stream" in str(found["gated"].reason)
    assert Costly.runs == 0


def test_who_asks_without_the_gate_gets_an_answer(clips: dict[str, Path]) -> None:
    found, _ = scored(clips["quiet"], GATED, OPEN)
    assert (found["gated"].status, found["open"].value, Costly.runs) == (Status.SKIPPED, 1.0, 1)


def test_a_broken_gate_is_a_failure_of_its_metric_alone(
    clips: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {"loud": Gate({"sound": AudioNeed()}, lambda sound: sound.samples / "x")}
    for module in (graph, media_unit):
        monkeypatch.setattr(module, "GATES", broken)
    found, _ = scored(clips["loud"], GATED, OPEN)
    assert (found["gated"].status, found["open"].value) == (Status.FAILED, 1.0)
    assert "TypeError" in str(found["gated"].reason)


def test_models_of_the_gate_stand_in_the_record_and_in_the_fingerprint() -> None:
    plan = planner()
    gated, opened = (
        plan.job(case("one", Path("/v.mp4")), replace(one, id="same"), {"video": "V"}) for one in (GATED, OPEN)
    )
    assert [model.id for model in gated.models] == ["brightness", "costly"]
    assert [model.id for model in opened.models] == ["costly"]
    assert gated.fingerprint != opened.fingerprint


@pytest.mark.parametrize(
    "need", [ExpertNeed("counter", when="loud"), ExpertNeed("difference", ("source", "video"), when="loud")]
)
def test_a_gate_that_could_not_be_asked_in_time_is_refused(need: ExpertNeed) -> None:
    world = World()
    node = world.planner().graph.bind(need, {"video": "V", "source": "S"})
    assert not isinstance(node, Missing)
    with pytest.raises(ValueError, match="no gate is known"):
        world.planner().graph.inputs(node)


def test_gates_that_metrics_name_exist() -> None:
    metrics = [metric for suite in suites().values() for metric in suite.metrics]
    named = {need.when for one in metrics for need in one.needs.values() if isinstance(need, ExpertNeed)} - {""}
    assert named == set(GATES)
