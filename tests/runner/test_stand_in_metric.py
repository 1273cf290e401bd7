"""A metric that another one replaces where no model serves it: same id, other models, other fingerprint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.errors import ModelMissing
from evaluator.metrics.base import Outcome
from evaluator.runner.graph import Graph
from evaluator.runner.plan import Planner
from evaluator.schema import ExpertNeed
from tests.runner.fakes import BRIGHT, NOWHERE, World, case

STAND_IN = replace(BRIGHT, id="nowhere", stands_in_for={"brightness": "Telepathy"})
METRIC = replace(NOWHERE, instead=STAND_IN)
SERVED = replace(METRIC, needs={"x": ExpertNeed("counter")}, compute=lambda x: Outcome(0.0))
MEDIA = {"video": "v"}
CASE = case("one", Path("v.mp4"))


def test_what_no_model_serves_is_replaced_under_its_own_id() -> None:
    job = World().planner().job(CASE, METRIC, MEDIA)
    assert job.metric is STAND_IN
    assert job.key == ("one", "nowhere")
    assert [(model.id, model.stands_in_for) for model in job.models] == [("brightness", "Telepathy")]


def test_what_a_model_serves_is_not() -> None:
    planner = World().planner()
    served = planner.job(CASE, SERVED, MEDIA)
    assert served.metric is SERVED
    assert served.fingerprint != planner.job(CASE, METRIC, MEDIA).fingerprint


def test_what_a_case_lacks_is_no_reason_to_replace() -> None:
    """The clip that a need names is missing from the case, not the model from the machine."""
    needy = replace(SERVED, needs={"x": ExpertNeed("counter", ("source",))})
    assert World().planner().job(CASE, needy, MEDIA).metric is needy


def test_a_required_reference_is_an_error() -> None:
    world = World()
    graph = Graph(world.serve, lambda name: world.experts[name])
    planner = Planner(graph, world.model_ref, "paper", media_version=1, stand_ins=False)
    with pytest.raises(ModelMissing, match="nowhere: mount something for telepathy"):
        planner.job(CASE, METRIC, MEDIA)
    assert planner.job(CASE, SERVED, MEDIA).metric is SERVED
