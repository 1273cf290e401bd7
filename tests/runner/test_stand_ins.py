"""Composed stand-ins answer while no reference model is mounted, say so, and are refused where one is required."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.errors import ModelMissing
from evaluator.experts.composed import STAND_INS
from evaluator.runner.experts import ExpertPool
from evaluator.runner.graph import Graph
from evaluator.runner.plan import Planner
from evaluator.runtime.session import SessionSource
from evaluator.runtime.store import Store
from evaluator.schema import Case, Tier
from evaluator.suites.avenue import SUITE
from tests.suites.avenue.cases import case


def plan(store: Store, one: Case, metric: str) -> list[tuple[str, str]]:
    pool = ExpertPool(store)
    planner = Planner(Graph(pool.serve, pool.by_id), pool.model_ref, "paper", media_version=1)
    job = planner.job(one, SUITE.metric(metric), {"video": "V", "source": "S"})
    assert all(model.tier is Tier.EMBEDDED for model in job.models)
    return [(model.id, model.stands_in_for) for model in job.models]


def test_a_record_names_the_stand_in_and_what_it_is_made_of(models: SessionSource) -> None:
    assert isinstance(models, Store)
    found = plan(models, case(), "v_clip")
    assert ("clip_stand_in", "CLIP ViT-L/14") in found
    assert any(name == "efficientnet_lite0" for name, _ in found)
    assert ("clap_stand_in", "LAION-CLAP") in plan(models, case(), "clap")


def test_a_required_reference_is_not_stood_in_for(models: SessionSource) -> None:
    assert isinstance(models, Store)
    with pytest.raises(ModelMissing, match="CLIP ViT-L/14"):
        ExpertPool(models, require_reference=True).serve("clip_image")


@pytest.mark.parametrize("capability", sorted(STAND_INS.keys() - {"face_lip_embedding"}))
def test_every_stand_in_is_an_expert_of_its_capability(models: SessionSource, capability: str) -> None:
    assert isinstance(models, Store)
    pool = ExpertPool(models)
    expert = pool.serve(capability)
    assert (expert.id, expert.capability) == (STAND_INS[capability], capability)  # type: ignore[union-attr]
    assert pool.model_ref(STAND_INS[capability]).stands_in_for


def test_a_mounted_model_takes_over(models: SessionSource, tmp_path: Path) -> None:
    assert isinstance(models, Store)
    (tmp_path / "clip_vit_l14").mkdir()
    (tmp_path / "clip_vit_l14" / "clip_image.onnx").write_bytes(b"weights")
    pool = ExpertPool(Store(models.lock, models.folder, tmp_path, models.digests))
    assert pool.serve("clip_image").id == "clip_vit_l14"  # type: ignore[union-attr]
    assert pool.model_ref("clip_vit_l14").tier is Tier.REFERENCE
