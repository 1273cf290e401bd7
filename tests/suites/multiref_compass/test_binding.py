"""BC: the list of errors and the grade that follows from it, item by item in `compat`, and a judge behind HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import ImagePart, Question, Raw, TextPart
from evaluator.metrics.base import Metric, Outcome
from evaluator.runner.judging import Bench
from evaluator.runner.outcome import Absent, judge
from evaluator.runner.plan import Job
from evaluator.schema import Case
from evaluator.suites.multiref_compass import SUITE
from evaluator.suites.multiref_compass.bc import grades
from evaluator.suites.multiref_compass.bc_items import COMPAT, QUESTIONS
from evaluator.suites.multiref_compass.rejudging import groups
from tests.judge.fake_server import Behaviour, Handler, running
from tests.suites.judging import Court, written
from tests.suites.multiref_compass.cases import case, flat, item, record

BC = SUITE.metric("bc")
MEDIA: dict[str, Any] = {"frames": flat(90, 16), "reference_0": flat(40), "reference_1": flat(200)}
END = MEDIA["frames"].clip.duration


def errors(score: int, *kinds: str, minor: bool = False) -> Raw:
    listed = [{"kind": kind, "entities": ["A"], "minor": minor, "observed": "seen"} for kind in kinds]
    return written({"errors": listed, "score": score})


def test_swapped_references_lower_binding(tmp_path: Path) -> None:
    """A judge that knows A as the dark picture and B as the bright one sees the roles change when references do."""
    dark = {}

    def looks(question: Question) -> Raw:
        shown = {part.name: part.sha256 for part in question.parts if isinstance(part, ImagePart)}
        dark.setdefault("A", shown["reference A view 1"])
        return errors(5) if shown["reference A view 1"] == dark["A"] else errors(1, "identity_swap")

    swapped = {**MEDIA, "reference_0": MEDIA["reference_1"], "reference_1": MEDIA["reference_0"]}
    with Court(tmp_path, looks) as court:
        right = court.value(BC, case(), **MEDIA)
        wrong = court.hear(BC, case("s2/x"), **swapped)
    assert isinstance(wrong, Outcome)
    assert (right, wrong.value) == (5, 1)
    assert wrong.details["errors"][0] == {
        "kind": "identity_swap", "entities": ["mia"], "minor": False, "observed": "seen",
    }  # fmt: skip


def schema_of(question: Question) -> Any:
    assert question.answer_schema is not None
    return question.answer_schema["properties"]


def test_one_identity_cannot_be_confused_with_another(tmp_path: Path) -> None:
    with Court(tmp_path, lambda _: errors(4, "duplicate", minor=True)) as court:
        court.value(BC, case(board="B1"), **MEDIA)
        court.value(BC, case("s4/x", board="B3"), **MEDIA)
        entries = [schema_of(question)["errors"]["items"]["properties"] for question in court.asked]
        told = [next(part.text for part in one.parts if part.name == "aspect") for one in court.asked]  # type: ignore[union-attr]
    assert entries[0]["kind"]["enum"] == ["duplicate", "drift"]
    assert len(entries[1]["kind"]["enum"]) == 7
    assert entries[1]["entities"]["items"]["enum"] == ["A", "B"]  # the two entities of the case and no others
    assert "duplicate and drift" in told[0]
    assert told[0] != told[1]


@pytest.mark.parametrize(
    ("minor", "allowed"),
    [((), {5}), ((True,), {4}), ((False,), {1, 2, 3}), ((True, False), {1, 2}), ((True, True), {1, 2})],
)
def test_the_grade_follows_from_the_list(minor: tuple[bool, ...], allowed: set[int]) -> None:
    least, most = grades(minor)
    assert set(range(least, most + 1)) == allowed


@given(st.lists(st.booleans(), max_size=6), st.booleans())
def test_one_more_error_never_raises_the_best_grade(minor: list[bool], more: bool) -> None:
    assert grades([*minor, more])[1] <= grades(minor)[1]


def in_turn(*replies: Raw) -> Callable[[Question], Raw]:
    left = iter(replies)
    return lambda _: next(left)


def test_a_grade_that_contradicts_its_list_is_asked_for_once_more(tmp_path: Path) -> None:
    with Court(tmp_path, in_turn(errors(5, "merge"), errors(3, "merge"))) as court:
        found = court.hear(BC, case(), **MEDIA)
        first, second = court.asked
    assert isinstance(found, Outcome)
    assert (found.value, found.details["asked_again"]) == (3, 1)
    told = second.parts[-2]
    assert isinstance(told, TextPart)
    assert (told.name, told.untrusted) == ("complaint", True)
    assert "1 clear and 0 minor" in told.text
    assert (*second.parts[:-2], second.parts[-1]) == first.parts


@pytest.mark.parametrize("second", [errors(4, "merge"), Raw("no idea", "stop"), Raw('{"errors": [', "length")])
def test_after_a_second_bad_answer_there_is_no_grade(tmp_path: Path, second: Raw) -> None:
    with Court(tmp_path, in_turn(errors(5, "merge"), second)) as court:
        found = court.hear(BC, case(), **MEDIA)
        assert len(court.asked) == 2
    assert isinstance(found, Absent)
    assert found.reason.code in {"unparsed", "truncated"}


# ------------------------------------------------------------------------------------------------- item by item


def entry(number: int, score: int, **more: Any) -> dict[str, Any]:
    return {"id": str(number), "evidence": "seen", "t": None, "score": score, **more}


def test_every_kind_of_error_is_an_item_and_the_value_is_their_mean(tmp_path: Path) -> None:
    answer = written({"items": [entry(number, 5 if number > 2 else 2, t=[0.0, END]) for number in range(1, 8)]})
    with Court(tmp_path, lambda _: answer) as court:
        found = court.hear(COMPAT, case(), **MEDIA)
        properties = schema_of(court.asked[0])["items"]
    assert isinstance(found, Outcome)
    assert found.value == pytest.approx((2 + 2 + 5 * 5) / 7)
    assert [one["id"] for one in found.details["items"]] == list(QUESTIONS)
    assert found.details["items"][0]["t"] == [0.0, END]
    assert (properties["minItems"], properties["maxItems"]) == (7, 7)


def test_one_identity_has_two_items_and_a_checklist_its_own(tmp_path: Path) -> None:
    with Court(tmp_path, lambda question: written({"items": [entry(n, 4) for n in ids(question)]})) as court:
        single = court.hear(COMPAT, case(board="B1"), **MEDIA)
        listed = court.hear(COMPAT, case("s5/x", checklist=[item("hat", "BC")]), **MEDIA)
    assert isinstance(single, Outcome)
    assert isinstance(listed, Outcome)
    assert [one["id"] for one in single.details["items"]] == ["duplicate", "drift"]
    assert [(one["id"], one["grade"]) for one in listed.details["items"]] == [("hat", 4.0)]


def ids(question: Question) -> list[int]:
    return [int(number) for number in schema_of(question)["items"]["items"]["properties"]["id"]["enum"]]


def test_two_systems_can_be_compared_by_what_was_seen(tmp_path: Path) -> None:
    """Rejudging needs words beside grades: in `compat` BC has them."""
    cases, scores = [], []
    for system, grade in (("x", 5), ("y", 2)):
        one = case(f"s/{system}", system, board="B1")
        answer = written({"items": [entry(1, grade), entry(2, 5)]})
        with Court(tmp_path / system, lambda _, answer=answer: answer) as court:  # type: ignore[misc]
            found = court.hear(COMPAT, one, **MEDIA)
        assert isinstance(found, Outcome)
        cases.append(one)
        scores.append(record("bc", found.value, one.id, system, items=found.details["items"]))
    first, second = groups(cases, scores)
    assert [(grade.system, grade.score, grade.observation) for grade in first.grades] == [
        ("x", 5, "seen"),
        ("y", 2, "seen"),
    ]
    assert (first.item, second.item) == ("duplicate", "drift")


WRONG: dict[str, Any] = {
    "an item twice": [entry(1, 4), entry(1, 4)],
    "an item too few": [entry(1, 4)],
    "an item of another sample": [entry(1, 4), entry(3, 4)],
    "half a point": [entry(1, 4), entry(2, 4.5)],  # type: ignore[arg-type]
    "off the scale": [entry(1, 4), entry(2, 6)],
    "no evidence": [entry(1, 4), entry(2, 4, evidence="")],
    "a time that falls": [entry(1, 4), entry(2, 4, t=[0.2, 0.1])],
    "a time after the end": [entry(1, 4), entry(2, 4, t=[0.0, END + 5])],
    "three times": [entry(1, 4), entry(2, 4, t=[0, 0, 0])],
    "a field too many": [entry(1, 4), entry(2, 4, model="x")],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_not_exactly_an_answer_is_no_grade(tmp_path: Path, name: str) -> None:
    with Court(tmp_path, lambda _: written({"items": WRONG[name]})) as court:
        found = court.hear(COMPAT, case(board="B1"), **MEDIA)
        assert len(court.asked) == 2
    assert isinstance(found, Absent)
    assert found.reason.code == "unparsed"


# ------------------------------------------------------------------------------------------------------- HTTP


def saying(*texts: str) -> Callable[[int], Callable[[Handler], bool]]:
    """Faults of a server that writes these, one after the other, whatever it is asked."""
    left = iter(texts)

    def say(handler: Handler) -> bool:
        choice = {"index": 0, "finish_reason": "stop", "message": {"content": next(left)}, "logprobs": None}
        handler.reply(200, {"model": "judge", "system_fingerprint": "fake-1", "choices": [choice], "usage": {}})
        return True

    return lambda _: say


@pytest.fixture
def heard(tmp_path: Path) -> Callable[..., Outcome | Absent]:
    """What a metric makes of a server's texts; without a server, of the ledger that this left."""

    def hearing(metric: Metric, one: Case, how: Behaviour | None, *texts: str) -> Outcome | Absent:
        job = Job(one, metric, {}, (), "")
        if how is None:
            with (
                Ledger(tmp_path / "j.jsonl", writable=False) as ledger,
                JudgeSession({}, ledger, Mode.REPLAY) as session,
            ):
                return judge(job, MEDIA, Bench(session, None, session.judges), {})
        with (
            running(how) as url,
            closing(HttpJudge.connect(url, HttpOptions(seconds=20.0))) as server,
            Ledger(tmp_path / "j.jsonl") as ledger,
            JudgeSession({"judge": server}, ledger, Mode.CACHE) as session,
        ):
            how.seen.clear()  # the server has been met
            how.fault = saying(*texts)
            return judge(job, MEDIA, Bench(session, None, session.judges), {})

    return hearing


def test_a_server_is_held_to_the_schema_and_its_second_answer_replays(heard: Callable[..., Any]) -> None:
    """The first text is fenced as chats do it, and counts as none; a replay asks the same two questions of nobody."""
    right = json.dumps({"items": [entry(1, 3), entry(2, 4)]})
    how = Behaviour()
    live = heard(COMPAT, case(board="B1"), how, f"```json\n{right}\n```", right)
    assert isinstance(live, Outcome)
    assert (live.value, live.details["asked_again"]) == (3.5, 1)
    bodies = [body for path, _, body in how.seen if path == "/v1/chat/completions"]
    forms = [body["response_format"]["json_schema"] for body in bodies]
    assert [form["strict"] for form in forms] == [True, True]
    assert forms[0]["schema"]["properties"]["items"]["items"]["properties"]["id"] == {"enum": ["1", "2"]}
    assert all(body["temperature"] == 0 for body in bodies)
    assert heard(COMPAT, case(board="B1"), None) == live


def test_a_server_that_only_chats_gives_no_grade(heard: Callable[..., Any]) -> None:
    found = heard(BC, case(), Behaviour(), "All fine: 5", "Really, 5!")
    assert isinstance(found, Absent)
    assert found.reason.code == "unparsed"
