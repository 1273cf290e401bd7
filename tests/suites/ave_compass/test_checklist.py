"""Checklists: accepted spellings, what makes one unusable, every rule once, and the dedup pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.suites.ave_compass import checklist_dedup
from evaluator.suites.ave_compass.checklist import Dimension, Finding, Subdimension, Tag, checklist_of, examine, read
from evaluator.suites.ave_compass.checklist_rules import RESPONSE_WORDING, findings
from tests.conftest import ROOT
from tests.suites.ave_compass.judging import case, checklist, item

VIDEO_ER = ("ER", "video", RESPONSE_WORDING[Tag.VIDEO])
AUDIO_ER = ("ER", "audio", RESPONSE_WORDING[Tag.AUDIO])
GOOD = (
    VIDEO_ER,
    AUDIO_ER,
    ("IF", "video", "Is rain visible over the dog?"),
    ("IF", "video", "Does the rain fall throughout the whole shot?"),
    ("IF", "audio", "Is the sound of rain audible?"),
    ("IF", "audio", "Is the rain audible throughout the whole shot?"),
    ("FP", "video", "Does the dog keep its shape?"),
    ("FP", "audio", "Does the bark keep its pitch?"),
    ("HC", "video", "Is the picture free of unrequested objects beside the dog?"),
    ("HC", "audio", "Is the sound free of unrequested speech beside the rain?"),
)
CAPTION = "A single static shot of a dog on a lawn. It barks, and a bark is all the sound there is."
PROMPT = "Let it rain on the dog for the whole shot."


def rules(tree: Any) -> list[str]:
    return [f"{one.rule}{one.level}" for one in findings(tree)]


def good(*items: tuple[str, str, str], **more: Any) -> dict[str, Any]:
    return checklist(*(items or GOOD), **{"caption": CAPTION, "edit_prompt": PROMPT, "edit_type": "weather", **more})


def changed(place: int, kind: str, tag: str, text: str, **more: Any) -> dict[str, Any]:
    items = list(GOOD)
    items[place] = (kind, tag, text)
    return good(*items, **more)


def test_a_good_checklist_has_no_finding() -> None:
    assert findings(good()) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "manifests" / "ave_compass").glob("*_checklist.json")), ids=lambda p: p.stem
)
def test_the_examples_are_good(path: Any) -> None:
    assert [one.shown() for one in findings(json.loads(path.read_text()))] == []


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"dimension": " response ", "subdimension": "Edit-Response"}, Subdimension.RESPONSE),
        ({"dimension": "instruction correctness", "subdimension": "instruction following"}, Subdimension.CORRECTNESS),
        ({"dimension": "Fidelity & Preservation", "subdimension": "fidelity"}, Subdimension.PRESERVATION),
        ({"dimension": "", "subdimension": "hallucination"}, Subdimension.HALLUCINATION),
        ({"subdimension": "fidelity_preserving"}, Subdimension.PRESERVATION),
    ],
)
def test_spellings_are_folded(written: dict[str, str], meant: Subdimension) -> None:
    found, problems = read({"questions": [{**written, "modality_tag": "Audio-Visual", "question": "Is it?"}]})
    assert problems == []
    assert found.items[0].subdimension is meant
    assert found.items[0].tag is Tag.GENERAL
    assert found.items[0].id == "Q01"


@pytest.mark.parametrize("tag", ["visual", "vision", "VIDEO"])
def test_modalities_have_aliases(tag: str) -> None:
    found, _ = read({"questions": [{"subdimension": "response", "modality_tag": tag, "question": "Is it?"}]})
    assert found.items[0].tag is Tag.VIDEO
    assert found.items[0].dimension is Dimension.ER


@pytest.mark.parametrize(
    ("tree", "rule"),
    [
        ([], "C01"),
        ({}, "C01"),
        ({"questions": []}, "C01"),
        ({"questions": ["Is it?"]}, "C01"),
        ({"questions": [{**item("IF", "video", " ", 1)}]}, "C01"),
        ({"questions": [item("IF", "video", "A?", 1), item("IF", "video", "B?", 1)]}, "C04"),
        ({"questions": [{**item("IF", "video", "A?", 1), "subdimension": "mood"}]}, "C05"),
        ({"questions": [{**item("IF", "video", "A?", 1), "dimension": "mood"}]}, "C05"),
        ({"questions": [{**item("IF", "video", "A?", 1), "dimension": "Fidelity"}]}, "C05"),
        ({"questions": [item("IF", "smell", "A?", 1)]}, "C06"),
    ],
)
def test_what_cannot_be_judged_is_an_error_and_refuses_the_case(tree: Any, rule: str) -> None:
    assert rule in {one.rule for one in read(tree)[1]}
    assert all(one.level == "E" for one in read(tree)[1])
    problems = list(examine(case(tree)))
    assert problems
    assert all(problem.field.startswith("checklist") for problem in problems)


def test_what_can_be_judged_is_not_refused_whatever_the_rules_say() -> None:
    lone = checklist(("IF", "video", "Is rain visible?"), branch="nowhere")
    assert [one.level for one in findings(lone) if one.rule == "C03"] == ["E"]
    assert list(examine(case(lone))) == []
    assert list(examine(case(None))) == []


def test_questions_may_stand_in_the_manifest() -> None:
    found = checklist_of(case((item("IF", "video", "Is rain visible?", 1),)))
    assert found is not None
    assert found.prompt == "Make it rain."


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (good(schema_version="v1"), "C02W"),
        (good(edit_category="smell"), "C03E"),
        (
            {**good(), "questions": [{**one, "question_id": one["question_id"] + "x"} for one in good()["questions"]]},
            "C04W",
        ),
        (good(*GOOD[1:]), "C07E"),
        (good(GOOD[1], GOOD[0], *GOOD[2:]), "C07E"),
        (good(GOOD[2], *GOOD[:2], *GOOD[3:]), "C07E"),
        (changed(0, "ER", "general", RESPONSE_WORDING[Tag.VIDEO]), "C07E"),
        (changed(0, "ER", "video", "Does the target video differ?"), "C08E"),
        (good(*GOOD, *(("IF", "video", f"Is rain drop {n} seen?") for n in range(3))), "C09E"),
        (good(*GOOD, *(("FP", "video", f"Does the dog keep the colour {n}?") for n in range(4))), "C10E"),
        (good(*GOOD[:9]), "C11W"),
        (changed(6, "FP", "video", "Does the dog still visible keep its shape?"), "C13W"),
        (changed(8, "HC", "video", "Does the dog introduce objects?"), "C13W"),
        (changed(2, "IF", "video", "Is rain visible and is the dog wet?"), "C14W"),
        (changed(2, "IF", "video", "Is the sun replaced by rain?"), "C14W"),
        (changed(2, "IF", "video", "Does the rain look natural?"), "C15W"),
        (changed(2, "IF", "video", "Are both the video and audio edits of the rain completed together?"), "C15W"),
        (changed(2, "IF", "video", "Is rain clearly visible over some of the dog?"), ""),
        (changed(3, "IF", "video", "Is rain visible on the dog?"), "C17W"),
        (good(edit_prompt="Remove the dog, let it rain throughout the whole shot."), "C18W"),
        (changed(6, "FP", "video", "Is the dog as before?"), "C19W"),
        (good(caption="A dog. The camera pans to the left, then a bark."), "C20W"),
        (good(caption="A dog in a shot with narration, music and barks."), "C21W"),
        (changed(7, "FP", "audio", "Do music and speech keep their pitch?", caption="A dog, music, a voice."), "C21W"),
        (good(caption="A dog, and a man who talks."), "C22W"),
        (good(*GOOD[:8], ("FP", "video", "Does the dog keep its colour?"), GOOD[9]), "C23W"),
        (changed(2, "IF", "video", "Are clouds to be seen?"), "C24W"),
        (changed(6, "FP", "video", "Does the dog keep its shape and framing?"), "C25W"),
        ({**good(), "questions": [{**one, "answer": "Yes"} for one in good()["questions"]]}, "C26E"),
    ],
)
def test_each_rule_finds_its_fault(tree: dict[str, Any], expected: str) -> None:
    assert (expected in rules(tree)) if expected else rules(tree) == []


def test_a_graded_pair_must_differ_by_more_than_a_word() -> None:
    tree = changed(2, "IF", "video", "Does the rain over the dog begin to fall in the shot?")
    tree["questions"][3]["question"] = "Does the rain over the dog fully begin to fall in the shot?"
    assert "C16W" in rules(tree)


def test_a_single_modality_edit_is_about_its_modality() -> None:
    items = (AUDIO_ER, ("IF", "video", "Is the dog louder?"), *GOOD[6:])
    tree = good(*items, branch="audio-only", edit_prompt="Turn the dog up.")
    assert "C12E" in rules(tree)
    assert "C12W" in rules({**tree, "edit_prompt": "Turn the dog in the background up."})


def test_speech_may_have_a_video_response_and_no_total() -> None:
    for responses in ((AUDIO_ER,), (VIDEO_ER, AUDIO_ER), (AUDIO_ER, VIDEO_ER)):
        assert not {"C07E", "C11W"} & set(rules(good(*responses, *GOOD[2:], branch="speech")))
    assert "C07E" in rules(good(VIDEO_ER, *GOOD[2:], branch="speech"))


def dedup(kept: list[dict[str, str]]) -> list[str]:
    raw, _ = read(good())
    return [one.rule for one in checklist_dedup.findings(raw, read({"questions": kept})[0])]


def test_the_dedup_pass_only_merges_and_renumbers() -> None:
    questions = good()["questions"]
    kept = [{**one, "question_id": f"Q{n:02d}"} for n, one in enumerate([*questions[:3], *questions[4:]], 1)]
    assert dedup(kept) == []
    assert dedup([*questions[:3], *questions[4:]]) == ["D3"] * 6
    assert dedup([{**kept[0], "question": "Is it new?"}, *kept[1:]]) == ["D1"]
    assert dedup([{**kept[2], "question_id": "Q01", "modality_tag": "general"}]) == ["D5"]
    assert dedup([kept[0], {**kept[0], "question_id": "Q02"}]) == ["D2", "D2"]
    assert dedup([{**kept[1], "question_id": "Q01"}, {**kept[0], "question_id": "Q02"}]) == ["D4"]


def test_a_finding_is_one_line() -> None:
    assert Finding("C08", "E", "Q01", "why").shown() == "C08 E: Q01: why"
