"""Who is asked what: the router, the rules of a checklist, and what a manifest may not say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from evaluator.errors import NotApplicable
from evaluator.schema import Case, Reference
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.data import MOST_VOICES, examine, of
from evaluator.suites.multiref_compass.grading import legend
from evaluator.suites.multiref_compass.routing import not_routed
from tests.suites.multiref_compass.cases import case, item, view

VOICE = Reference("audio", Path("/voice.wav"), "ref_audio", "mia")
LINE = {"speaker": "Mia", "text": "Hello there", "lang": "en"}


def applying(one: Case) -> set[str]:
    return {metric.id for metric in SUITE.metrics if not not_routed(metric.id, one)}


ALWAYS = {"vtq", "atq", "aq", "vtf"}
COMPARED = {"ef", "ef_raw", "ef_p_paste", "dp", "bc"}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, ALWAYS | COMPARED),
        ({"references": ()}, ALWAYS | {"bc"}),
        ({"references": (), "entities": [{"entity_id": "mia", "kind": "human", "name": "Mia"}]}, ALWAYS),
        (
            {
                "board": "B1",
                "entities": [{"entity_id": "mia", "kind": "human", "name": "Mia"}],
                "references": (view("mia"),),
            },
            ALWAYS | COMPARED,
        ),
        ({"facts": {"speech": "monologue"}}, ALWAYS | COMPARED | {"sls", "sls_unscreened", "sc"}),
        ({"facts": {"speech": "voiceover"}}, ALWAYS | COMPARED),
        ({"facts": {"sfx": True}}, ALWAYS | COMPARED | {"esm", "sc", "atf"}),
        ({"facts": {"silence": True}}, ALWAYS | COMPARED | {"atf"}),
        ({"facts": {"exact_lines": [LINE]}}, ALWAYS | COMPARED | {"sca", "sca_strict"}),
        ({"facts": {"multi_shot": True}}, ALWAYS | COMPARED | {"tof"}),
        (
            {"board": "B4", "references": (view("mia"), view("robot"), VOICE), "facts": {"speech": "voiceover"}},
            ALWAYS | COMPARED | {"ts"},
        ),
        ({"board": "B4", "references": (view("mia"), view("robot"), VOICE)}, ALWAYS | COMPARED | {"ts"}),
        ({"board": "B3", "references": (view("mia"), VOICE), "facts": {"speech": "voiceover"}}, ALWAYS | COMPARED),
    ],
)
def test_the_table_of_section_two(more: dict[str, Any], expected: set[str]) -> None:
    assert applying(case(**more)) == expected


def test_what_does_not_apply_says_why_and_asks_nobody() -> None:
    for profile in SUITE.profiles:
        metrics = {metric.id: metric for metric in SUITE.metrics_of(case(), profile)}
        assert len(metrics) == len(SUITE.metrics)
        routed_out = metrics["ts"]
        assert (routed_out.judged, dict(routed_out.needs_for(case()))) == (None, {})
        with pytest.raises(NotApplicable, match="router: only for board B4"):
            routed_out.compute(case=case())
        assert metrics["aq"].judged is not None


def problems(one: Case) -> list[str]:
    return [f"{found.field}: {found.expected}" for found in examine(one)]


def test_a_sound_case_has_no_problem() -> None:
    facts = {"sfx": True, "ordered_actions": True, "exact_lines": [LINE]}
    checklist = [
        item("v", "VTF"),
        item("a", "ATF", source_span="a door  slams"),
        item("t", "TOF", source_span="then the robot waves"),
        item("s", "SCA", question="Does Mia say: Hello there?", source_span="Mia says"),
    ]
    assert problems(case(facts=facts, checklist=checklist)) == []


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ([item("v", "VTF", source_span="a blue robot")], "words of the prompt"),
        ([item("v", "VTF", subdim="Mood")], "Basic Setting"),
        ([item("v", "VTF"), item("v", "VTF")], "each item id once"),
        ([item("a", "ATF", question="Is a voice-over heard?")], "non-speech"),
        ([item(f"a{k}", "ATF") for k in range(4)], "1 to 3 items of ATF"),
        ([item(f"t{k}", "TOF") for k in range(4)], "1 to 3 items of TOF"),
        ([item("s", "SCA", question="Does somebody talk?")], "one of the exact lines"),
        ([item("x", "XYZ")], "a well-formed item"),
        ([{"id": "v"}], "a well-formed item"),
    ],
)
def test_rules_of_a_checklist(broken: list[dict[str, Any]], says: str) -> None:
    facts = {"sfx": True, "ordered_actions": True, "exact_lines": [LINE]}
    assert any(says in problem for problem in problems(case(facts=facts, checklist=broken)))


def test_an_item_that_no_router_asks_is_no_demand_of_the_sample() -> None:
    assert any("applies to the sample" in one for one in problems(case(checklist=[item("t", "TOF")])))


@pytest.mark.parametrize(
    ("references", "says"),
    [
        ((replace(view("mia"), role="portrait"),), "one of view, ref_video, ref_audio"),
        ((replace(view("mia"), kind="audio"),), "image or video for the role view"),
        ((view("tom"),), "one of the entities mia, robot"),
        ((Reference("video", Path("/a.mp4"), "ref_video"),) * 2, "at most one ref_video"),
        ((Reference("audio", Path("/a.wav"), "ref_audio"),) * (MOST_VOICES + 1), "at most 8 ref_audio"),
    ],
)
def test_references_and_entities_name_each_other(references: tuple[Reference, ...], says: str) -> None:
    assert any(says in problem for problem in problems(case(references=references)))


@pytest.mark.parametrize(
    ("preferences", "says"),
    [
        ({"mood": {"y": [1]}}, "labels.preferences.mood: one of AC"),
        ({"IF": {"y": []}}, "labels.preferences.IF.y: dimension -> other system"),
        ({"IF": {"y": 1}}, "labels.preferences.IF.y: "),
        ({"IF": {"y": [1, 2]}}, "labels.preferences.IF.y.1: "),
        ({"IF": {"x": [1]}}, "labels.preferences.IF: other systems"),
        ([1], "labels.preferences: "),
    ],
)
def test_preferences_that_cannot_be_counted_are_refused(preferences: Any, says: str) -> None:
    assert any(problem.startswith(says) for problem in problems(case(labels={"preferences": preferences})))
    good = {"IF": {"y": [1, 0, -1]}, "Entity Fidelity": {"z": [1]}}
    assert problems(case(labels={"preferences": good})) == []


def test_every_entity_has_a_letter() -> None:
    def some(count: int) -> Case:
        return case(entities=[{"entity_id": f"e{k}", "kind": "object", "name": f"thing {k}"} for k in range(count)])

    assert legend(some(13)).splitlines()[-1] == "M: thing 12 (object)"
    with pytest.raises(ValidationError, match="at most 13"):
        of(some(14))


def test_eight_voices_are_no_problem_and_each_is_compared() -> None:
    chorus = tuple(Reference("audio", Path(f"/{at}.wav"), "ref_audio", f"voice {at}") for at in range(MOST_VOICES))
    one = case(board="B4", references=(view("mia"), view("robot"), *chorus), facts={"speech": "dialogue"})
    assert problems(one) == []
    needs = {metric.id: metric for metric in SUITE.metrics_of(one, "paper")}["ts"].needs_for(one)
    assert {name for name in needs if name.startswith("voice_")} == {f"voice_{at}" for at in range(2, 2 + MOST_VOICES)}
