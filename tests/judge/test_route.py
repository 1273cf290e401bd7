"""Who is asked, and when a substitute may stand in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from evaluator.judge.ledger import Ledger
from evaluator.judge.route import askable, endpoint, route, unavailable
from evaluator.judge.session import JudgeSession
from evaluator.judge.types import AudioPart, JudgeIdentity, Modality, Question
from tests.judge.fakes import JUDGE, FakeBackend, ask, clip, picture

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


RATER = replace(JUDGE, model="visualquality-R1-7B")


@pytest.mark.parametrize(
    ("judges", "any_judge", "own"),
    [
        ({"judge": VISION}, ["judge"], []),
        ({"judge": RATER}, ["judge"], ["judge"]),  # the only judge there is, and it is that model
        ({"for VisualQuality-R1": RATER}, [], ["for VisualQuality-R1"]),
        ({"judge": VISION, "for VisualQuality-R1": RATER}, ["judge"], ["for VisualQuality-R1"]),
        ({"judge": RATER, "for VisualQuality-R1": RATER}, ["judge"], ["for VisualQuality-R1"]),
        ({"vision": VISION, "rater": RATER}, ["vision", "rater"], ["rater"]),
        ({"for Another": RATER}, [], []),
        ({}, [], []),
    ],
)
def test_a_reserved_judge_is_asked_what_only_it_may_answer(
    judges: dict[str, JudgeIdentity], any_judge: list[str], own: list[str]
) -> None:
    assert list(askable(judges)) == any_judge
    assert list(askable(judges, "VisualQuality-R1")) == own


def test_a_session_asks_nobody_else(tmp_path: Path) -> None:
    """Neither a common question at a reserved endpoint, nor the other way round."""
    question = ask("Is it calm?")
    backends = {
        name: FakeBackend(identity=replace(JUDGE, model=name, model_sha256=name)) for name in ("for R1", "common")
    }
    with Ledger(tmp_path / "judge.jsonl") as ledger, JudgeSession(backends, ledger) as session:
        session.ask_all([question])
        assert [len(backend.asked) for backend in backends.values()] == [0, 1]
        session.ask_all([question], "R1")
        assert [len(backend.asked) for backend in backends.values()] == [1, 1]
        assert [answer.status for answer in session.ask_all([question], "R2")] == ["not_available"]


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
