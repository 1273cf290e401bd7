"""Needs become nodes: equal requests on equal bytes are one node, whatever the role."""

from __future__ import annotations

from evaluator.runner.graph import Missing, Node
from evaluator.schema import AudioNeed, ClipNeed, ExpertNeed, FramesNeed
from tests.runner.fakes import SMALL, World

GRAPH = World().planner().graph
MEDIA = {"video": "V", "source": "S"}


def bound(need: object, media: dict[str, str] = MEDIA) -> Node:
    node = GRAPH.bind(need, media)  # type: ignore[arg-type]
    assert isinstance(node, Node)
    return node


def test_a_clip_has_the_same_node_in_either_role() -> None:
    as_source = bound(ExpertNeed("brightness", ("source",)))
    as_video = bound(ExpertNeed("brightness"), {"video": "S"})
    assert as_source == as_video
    assert bound(FramesNeed(SMALL, "source")) == bound(FramesNeed(SMALL), {"video": "S"})


def test_different_files_have_different_nodes() -> None:
    assert bound(ExpertNeed("brightness")) != bound(ExpertNeed("brightness", ("source",)))


def test_options_make_another_node() -> None:
    assert bound(ExpertNeed("brightness")) != bound(ExpertNeed("brightness", options=(("a", 1),)))


def test_a_pair_looks_at_both_files_and_stands_on_each() -> None:
    pair = bound(ExpertNeed("difference", ("source", "video")))
    assert pair.files == {"S", "V"}
    order = GRAPH.closure(pair)
    assert order[-1] == pair
    assert {file for node in order[:-1] for file in node.files} == {"S", "V"}
    for node in order:
        for child in GRAPH.inputs(node).values():
            assert order.index(child) < order.index(node)  # type: ignore[arg-type]


def test_a_copy_of_the_source_is_one_file() -> None:
    pair = bound(ExpertNeed("difference", ("source", "video")), {"video": "S", "source": "S"})
    assert pair.files == {"S"}
    assert len([node for node in GRAPH.closure(pair) if node.expert == "brightness"]) == 1


def test_a_role_that_the_case_does_not_fill_is_not_applicable() -> None:
    missing = GRAPH.bind(AudioNeed(role="source"), {"video": "V"})
    assert missing == Missing("not_applicable", "the case names no source clip")


def test_a_capability_that_nothing_serves_says_what_to_mount() -> None:
    missing = GRAPH.bind(ExpertNeed("telepathy"), MEDIA)
    assert isinstance(missing, Missing)
    assert missing.code == "unavailable"
    assert "mount" in missing.message


def test_the_facts_of_a_clip_are_a_node_of_their_own() -> None:
    assert bound(ClipNeed()).want is None
    assert GRAPH.inputs(bound(ClipNeed())) == {}
