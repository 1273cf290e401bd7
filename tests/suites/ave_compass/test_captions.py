"""Captions: their form, what must stay apart, and their text for a prompt."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.suites.ave_compass.captions import findings, text_of

GOOD: dict[str, Any] = {
    "caption": "A dog runs over a lawn. Cut to a wide view of a house.",
    "audio_caption": "Barks of one dog, loud at first, over faint wind.",
    "speech_or_non_speech": "non_speech",
    "shot_count": 2,
    "visual_style": "live action",
}


def rules(**changed: Any) -> set[str]:
    return {f"{one.rule}{one.level}" for one in findings({**GOOD, **changed})}


def test_a_good_caption_has_no_finding() -> None:
    assert findings(GOOD) == []
    assert rules(audio_caption="silence throughout") == set()
    assert rules(audio_caption="Wind without any human voice.") == set()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"caption": ""}, "K1E"),
        ({"caption": "A dog.\nA cat."}, "K1E"),
        ({"shot_count": "2"}, "K1E"),
        ({"shot_count": True}, "K1E"),
        ({"shot_count": 0}, "K1E"),
        ({"speech_or_non_speech": "silence"}, "K1E"),
        ({"mood": "glad"}, "K1E"),
        ({"audio_caption": "Собака лает."}, "K2E"),
        ({"caption": "A dog barks audibly. Cut to a house."}, "K3W"),
        ({"audio_caption": "A bark, and the camera pans."}, "K3W"),
        ({"audio_caption": 'A man says "good dog" softly.', "speech_or_non_speech": "speech"}, "K4E"),
        ({"audio_caption": "He calls 'good dog' softly."}, "K4E"),
        ({"shot_count": 3}, "K5W"),
        ({"caption": "A dog. No cut to anything.", "shot_count": 2}, "K5W"),
        ({"audio_caption": "A man talks to a dog."}, "K6E"),
        ({"caption": "Perhaps a dog. Cut to a house."}, "K7W"),
    ],
)
def test_each_rule_finds_its_fault(changed: dict[str, Any], expected: str) -> None:
    assert expected in rules(**changed)


@pytest.mark.parametrize("name", list(GOOD))
def test_every_field_is_needed(name: str) -> None:
    assert {one.place for one in findings({key: value for key, value in GOOD.items() if key != name})} == {name}


def test_what_is_no_object_is_one_error() -> None:
    assert [one.level for one in findings([GOOD])] == ["E"]


def test_an_apostrophe_is_no_quotation() -> None:
    assert rules(audio_caption="The dog's bark and the cat's purr.") == set()


def test_text_for_a_prompt() -> None:
    assert text_of({**GOOD, "overall": "All of it."}) == "All of it."
    lines = text_of({**GOOD, "visual_style": ""}).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["caption", "audio_caption", "speech_or_non_speech"]
