"""Fingerprints change with everything that can change a score, and with nothing else; shards keep sources together."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.types import JudgeIdentity, Modality
from evaluator.metrics.base import Judged, Metric
from evaluator.runner.graph import Graph
from evaluator.runner.judging import Bench
from evaluator.runner.plan import Planner, by_source, shard
from evaluator.schema import Case, ExpertNeed
from tests.runner.fakes import BRIGHT, COUNT, MOVED, NOWHERE, World, case

CASE = case("a", Path("/v.mp4"), Path("/s.mp4"))
MEDIA = {"video": "V", "source": "S"}


def fingerprint(
    metric: Metric = BRIGHT,
    media: dict[str, str] = MEDIA,
    case: Case = CASE,
    world: World | None = None,
    profile: str = "paper",
) -> str:
    return (world or World()).planner(profile).job(case, metric, media).fingerprint


def test_the_same_inputs_have_the_same_fingerprint() -> None:
    assert fingerprint() == fingerprint()


@pytest.mark.parametrize(
    "changed",
    [
        {"media": {"video": "other", "source": "S"}},
        {"profile": "compat"},
        {"metric": replace(BRIGHT, version=2)},
        {"metric": replace(BRIGHT, id="brighter")},
        {"metric": replace(BRIGHT, needs={"level": ExpertNeed("brightness", options=(("k", 1),))})},
        {"world": World(digest="1" * 64)},
    ],
)
def test_what_can_change_a_score_changes_the_fingerprint(changed: dict[str, object]) -> None:
    assert fingerprint(**changed) != fingerprint()  # type: ignore[arg-type]


def test_another_version_of_a_library_that_makes_numbers_counts() -> None:
    def with_numpy(version: str) -> str:
        world = World()
        graph = world.planner().graph
        planner = Planner(graph, world.model_ref, "paper", media_version=1, packages={"numpy": version})
        return planner.job(CASE, BRIGHT, MEDIA).fingerprint

    assert with_numpy("2.3.5") == with_numpy("2.3.5") != with_numpy("2.4.0")


def test_a_model_in_another_ones_place_says_so_in_the_record() -> None:
    proxy = replace(BRIGHT, stands_in_for={"brightness": "a photometer"})
    (model,) = World().planner().job(CASE, proxy, MEDIA).models
    assert model.stands_in_for == "a photometer"
    assert World().planner().job(CASE, BRIGHT, MEDIA).models[0].stands_in_for == ""


def test_an_experts_version_counts_also_below_another_expert() -> None:
    world = World()
    world.experts["brightness"].version = 2  # type: ignore[misc]
    assert fingerprint(MOVED, world=world) != fingerprint(MOVED)


def test_what_cannot_change_a_score_does_not() -> None:
    assert fingerprint(media={"video": "V", "source": "another"}) == fingerprint()  # bright looks at the video only
    assert fingerprint(case=replace(CASE, id="b", system="t", prompt="p", meta={"k": 1})) == fingerprint()


def test_a_model_that_appears_later_changes_the_fingerprint_of_its_metric() -> None:
    before = fingerprint(NOWHERE)
    world = World()
    world.experts["telepathy"] = world.experts["counter"]
    assert fingerprint(NOWHERE, world=world) != before


def test_records_name_every_model_below_a_metric() -> None:
    job = World().planner().job(CASE, MOVED, MEDIA)
    assert [model.id for model in job.models] == ["brightness", "difference"]
    assert World().planner().job(CASE, COUNT, MEDIA).models[0].id == "counter"


SOURCES = st.lists(st.integers(0, 5), min_size=1, max_size=40)


@given(SOURCES, st.integers(1, 6))
def test_shards_are_a_partition_that_keeps_sources_together(sources: list[int], count: int) -> None:
    cases = [case(str(i), Path(f"/v{i}"), Path(f"/s{s}")) for i, s in enumerate(sources)]
    parts = [shard(cases, index, count) for index in range(1, count + 1)]
    assert sorted(item.id for part in parts for item in part) == sorted(item.id for item in cases)
    homes = Counter(source for part in parts for source in {item.source for item in part})
    assert set(homes.values()) <= {1}
    for part in parts:
        assert [item.id for item in part] == [item.id for item in cases if item in part]


def test_cases_without_a_source_are_grouped_by_their_own_clip() -> None:
    cases = [case("a", Path("/x")), case("b", Path("/y")), case("c", Path("/x"))]
    assert [[item.id for item in group] for group in by_source(cases)] == [["a", "c"], ["b"]]


@pytest.mark.parametrize(("modalities", "needs"), [({"text", "video"}, {"level", "n"}), ({*Modality}, {"n"})])
def test_what_stands_in_for_sound_is_spared_where_a_judge_hears(modalities: set[str], needs: set[str]) -> None:
    world = World()
    judge = JudgeIdentity("judge", "ab", "fake", modalities=frozenset(map(Modality, modalities)))
    graph = Graph(world.serve, lambda name: world.experts[name])
    planner = Planner(graph, world.model_ref, "paper", 1, Bench(judges={"judge": judge}))
    judged = Judged(lambda case: [], (), (), for_deaf=frozenset({"level"}))
    wants = {"level": ExpertNeed("brightness"), "n": ExpertNeed("counter")}
    job = planner.job(case("a", Path("/a.mp4")), replace(BRIGHT, needs=wants, judged=judged), {"video": "a" * 64})
    assert set(planner.nodes(job)) == needs
    assert {model.id for model in job.models} - {"judge"} == {{"level": "brightness", "n": "counter"}[n] for n in needs}
