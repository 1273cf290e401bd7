"""Who is asked, and when a substitute may stand in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluator.judge.route import endpoint, route, unavailable
from evaluator.judge.types import AudioPart, JudgeIdentity, Modality, Question
from tests.judge.fakes import JUDGE, ask, clip, picture

TEXT, IMAGE, VIDEO, AUDIO = Modality
VISION = replace(JUDGE, model="vision")
HEARING = replace(JUDGE, model="audio", modalities=frozenset({TEXT, AUDIO}))
OMNI = replace(JUDGE, model="omni", modalities=frozenset(Modality))


@pytest.mark.parametrize(
    ("judges", "needs", "name"),
    [
        ([VISION], {TEXT, VIDEO}, "vision"),
        ([VISION], {TEXT, AUDIO}, None),
        ([VISION, HEARING], {TEXT, AUDIO}, "audio"),
        ([VISION, HEARING], {TEXT, AUDIO, VIDEO}, None),
        ([OMNI, HEARING, VISION], {TEXT, AUDIO}, "omni"),
        ([VISION, HEARING, OMNI], {TEXT, AUDIO}, "audio"),
        ([VISION, HEARING, OMNI], {TEXT, AUDIO, VIDEO}, "omni"),
        ([], {TEXT}, None),
    ],
)
def test_the_first_that_perceives_everything(
    judges: list[JudgeIdentity], needs: set[Modality], name: str | None
) -> None:
    assert endpoint(frozenset(needs), {judge.model: judge for judge in judges}) == name


HEARD = ask("Is the music calm?", evidence=(clip(b"1", b"2"), AudioPart(b"3")))


def shown() -> Question:
    return ask("Is the music calm?", evidence=(clip(b"1", b"2"), picture(b"mel")), substitute=True)


def never() -> Question:
    raise AssertionError("nobody needed a substitute")


def test_a_substitute_is_made_only_when_nobody_perceives_the_original() -> None:
    assert route(HEARD, {"omni": OMNI}, never) is HEARD
    assert route(HEARD, {"vision": VISION}, shown).protocol_deviation
    assert route(HEARD, {"vision": VISION}, None) is HEARD


def test_a_substitute_must_say_that_it_is_one() -> None:
    with pytest.raises(ValueError, match="must be marked"):
        route(HEARD, {"vision": VISION}, lambda: replace(shown(), protocol_deviation=False))


def test_people_are_told_what_is_missing() -> None:
    assert unavailable(HEARD.modalities, {"vision": VISION}) == (
        "no judge perceives audio, text, video together (vision: image, text, video)"
    )
    assert unavailable(HEARD.modalities, {}) == "no judge was given"
