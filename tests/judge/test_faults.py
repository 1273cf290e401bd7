"""A server that misbehaves: what passes is asked again until it answers, what cannot pass ends at once, nothing hangs.

No fault may change an answer, lose another question's answer, or put answers in another order.
"""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from itertools import chain, repeat
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import JudgeUnusableError
from evaluator.judge import probes
from evaluator.judge.client import HttpJudge
from evaluator.judge.exchange import as_object, clean, retry_after_s, server_message
from evaluator.judge.ledger import Ledger
from evaluator.judge.retry import FullJitter, patiently
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.transport import MAX_RESPONSE_BYTES
from evaluator.judge.types import JudgeError, Modality, Raw, Status
from tests.judge import fake_server as fake
from tests.judge.conftest import Connect
from tests.judge.fake_server import Behaviour, Fault

QUESTION = probes.question("Dark?")
QUICK = FullJitter(attempts=8, base_s=0.01, cap_s=0.05)


def asking(judge: HttpJudge, count: int = 24) -> list[Raw]:
    """Many questions of every kind at once, with retries."""
    questions = probes.mixed(count, judge.identity.modalities)
    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(lambda asked: patiently(lambda: judge.ask(asked), asked.item, QUICK), questions))


def sometimes(seed: int) -> Callable[[int], Fault | None]:
    """15 % resets, 10 % 429, 10 % 500, 7 % truncated, 5 % garbled, 5 % slow."""
    random = Random(seed)  # noqa: S311
    kinds: list[tuple[Fault | None, int]] = [
        (fake.reset, 15),
        (fake.status(429, Retry_After="0"), 10),
        (fake.status(500), 10),
        (fake.truncated, 7),
        (fake.garbled, 5),
        (fake.slow(0.1), 5),
        (None, 48),
    ]
    faults, weights = zip(*kinds, strict=True)
    return lambda number: None if number == 0 else random.choices(faults, weights)[0]  # 0 is the greeting


@pytest.mark.parametrize("seed", [1, 2])
def test_every_question_gets_its_unchanged_answer_in_order(connect: Connect, seed: int) -> None:
    calm, rough = Behaviour(), Behaviour(fault=sometimes(seed))
    wanted = asking(connect(calm))
    assert asking(connect(rough)) == wanted
    assert rough.chats > calm.chats + 5  # there was something to overcome
    assert len({str(raw.label_logprobs) for raw in wanted}) == len(wanted)  # a swap would show


def test_a_session_over_a_rough_server_gives_the_answers_of_a_calm_one(connect: Connect, tmp_path: Path) -> None:
    questions = probes.mixed(24, frozenset(Modality) - {Modality.AUDIO})
    answers = []
    for name, how in {"calm": Behaviour(), "rough": Behaviour(fault=sometimes(3))}.items():
        judge = connect(how)
        with (
            Ledger(tmp_path / name / "judge.jsonl") as ledger,
            JudgeSession({"judge": judge}, ledger, Mode.LIVE, retry=QUICK) as session,
        ):
            answers.append(session.ask_all(questions))
    assert session.counts["retries"] > 5
    assert {answer.status for answer in answers[0]} == {Status.OK}
    assert answers[0] == answers[1]


def test_a_dead_server_stops_a_session_that_can_go_on_later(connect: Connect, tmp_path: Path) -> None:
    questions = probes.mixed(60, frozenset({Modality.TEXT}))
    how = Behaviour()
    with Ledger(tmp_path / "judge.jsonl") as ledger:
        judge = connect(how)
        how.fault = lambda number: fake.status(503) if number > 20 else None
        once = FullJitter(attempts=1)
        with (
            JudgeSession({"judge": judge}, ledger, retry=once, concurrency=2, patience=5) as session,
            pytest.raises(JudgeUnusableError, match=r"5 questions in a row.*HTTP 503"),
        ):
            session.ask_all(questions)
        assert how.chats < 35  # sixty were to be asked
        how.fault = lambda _: None
        with JudgeSession({"judge": connect(Behaviour())}, ledger) as session:
            assert {answer.status for answer in session.ask_all(questions)} == {Status.OK}
        assert session.counts["replayed"] == 20


PASSING: dict[str, Fault] = {
    "reset": fake.reset,
    "truncated": fake.truncated,
    "garbled": fake.garbled,
    "empty": fake.body(b""),
    "408": fake.status(408),
    "409": fake.status(409),
    "425": fake.status(425),
    "429": fake.status(429),
    "500": fake.status(500),
    "502": fake.status(502),
    "503": fake.status(503),
    "504": fake.status(504),
    "not HTTP": fake.dripping(iter([b"SSH-2.0-OpenSSH_9.9\r\n\r\n"])),
    "too many headers": fake.dripping(iter([b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 200_000])),
}

LASTING: dict[str, Fault] = {
    "400": fake.status(400),
    "401": fake.status(401),
    "404": fake.status(404),
    "413": fake.status(413),
    "422": fake.status(422),
    "no content": lambda handler: handler.raw(204, b"") is None,
    "another success": fake.status(201),
    "an array": fake.body(b"[]"),
    "a string": fake.body(b'"Yes"'),
    "an empty object": fake.body(b"{}"),
    "compressed": fake.body(gzip.compress(b"{}" * 1000), Content_Encoding="gzip"),
    "too large": fake.body(b" " * (MAX_RESPONSE_BYTES + 1)),
}


@pytest.mark.parametrize("name", PASSING)
def test_what_can_pass_is_transient_and_the_next_try_answers(connect: Connect, name: str) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda _: PASSING[name]
    with pytest.raises(JudgeError) as error:
        judge.ask(QUESTION)
    assert error.value.status is Status.TRANSIENT
    how.fault = lambda _: None
    assert judge.ask(QUESTION).text in {"Yes", "No"}


@pytest.mark.parametrize("name", LASTING)
def test_what_cannot_pass_is_an_error_and_asked_once(connect: Connect, name: str) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda _: LASTING[name]
    before = how.chats
    with pytest.raises(JudgeError) as error:
        patiently(lambda: judge.ask(QUESTION), "k", QUICK)
    assert error.value.status is Status.ERROR
    assert how.chats == before + 1
    how.fault = lambda _: None
    assert judge.ask(QUESTION).text in {"Yes", "No"}


def test_deeply_nested_json_is_refused() -> None:
    with pytest.raises(JudgeError, match="not JSON"):
        as_object(b"[" * 100_000)


# ------------------------------------------------------------------------------------------------------ time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"


@pytest.mark.parametrize(
    "pieces",
    {
        "silence": lambda: repeat(b"", 20),
        "a drip of headers": lambda: chain([b"HTTP/1.1 200 OK\r\n"], repeat(b"X: y\r\n")),
        "a drip of body": lambda: chain([HEAD], repeat(b" ")),
        "an endless chunked body": lambda: chain(
            [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"], repeat(b"1\r\n \r\n")
        ),
        "endless interim responses": lambda: repeat(b"HTTP/1.1 102 Processing\r\n\r\n"),
    }.items(),
    ids=lambda item: item[0],
)
def test_a_request_ends_in_time_whatever_the_server_does(connect: Connect, pieces: tuple[str, Callable]) -> None:  # type: ignore[type-arg]
    how = Behaviour()
    judge = connect(how, seconds=0.5)
    judge.ask(QUESTION)
    how.fault = lambda _: fake.dripping(pieces[1]())
    start = time.monotonic()
    with pytest.raises(JudgeError) as error:
        judge.ask(QUESTION)
    assert error.value.status is Status.TRANSIENT
    assert 0.4 < time.monotonic() - start < 2.0


def test_an_endless_fast_body_ends_at_the_limit(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how, seconds=60.0)
    block = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    how.fault = lambda _: fake.dripping(chain([head], repeat(block)))
    with pytest.raises(JudgeError, match="more than"):
        judge.ask(QUESTION)


def test_a_slow_answer_is_waited_for(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how, seconds=5.0)
    how.fault = lambda _: fake.slow(0.5)
    assert judge.ask(QUESTION).text in {"Yes", "No"}


# ------------------------------------------------------------------------------------------------------ words


def test_the_servers_wish_to_wait_is_passed_on(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda _: fake.status(429, Retry_After="7")
    with pytest.raises(JudgeError) as error:
        judge.ask(QUESTION)
    assert error.value.retry_after == 7


def test_retry_after_is_seconds_or_a_date() -> None:
    assert retry_after_s("0") == 0
    assert retry_after_s(" 120 ") == 120
    assert retry_after_s(formatdate(time.time() + 60, usegmt=True)) == pytest.approx(60, abs=2)
    assert retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    for nonsense in ("", "soon", "-1", "1.5", "inf", "nan", "٣", "Wed, 99 Oct 2015 07:28:00 GMT"):
        assert retry_after_s(nonsense) is None, nonsense


@given(st.text(max_size=80))
def test_no_retry_after_breaks_the_reader(value: str) -> None:
    wait = retry_after_s(value)
    assert wait is None or wait >= 0


def test_a_servers_words_are_shown_cleaned(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    words = "wrong\n\x1b[31mkey\u202e" + "x" * 5000
    how.fault = lambda _: lambda handler: handler.reply(400, {"error": {"message": words}}) is None
    with pytest.raises(JudgeError) as error:
        judge.ask(QUESTION)
    assert str(error.value).isprintable()
    assert "wrong" in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "no such model"}}', "no such model"),
        (b'{"error": "plain"}', "plain"),
        (b'{"message": "old form"}', "old form"),
        (b'{"detail": "Not Found"}', "Not Found"),
        (b'{"detail": [{"loc": 1}]}', '{"detail": [{"loc": 1}]}'),
        (b"<html>Bad Gateway</html>", "<html>Bad Gateway</html>"),
        (b"\xff\xfe", "��"),
        (b"", "(empty)"),
    ],
)
def test_words_are_found_in_every_known_form(body: bytes, words: str) -> None:
    assert server_message(body) == words


@given(st.text())
def test_clean_text_is_one_bounded_printable_line(text: str) -> None:
    assert clean(text).isprintable()
    assert len(clean(text)) <= 304


def test_one_failing_question_takes_no_other_with_it(connect: Connect) -> None:
    how = Behaviour()
    judge = connect(how)
    how.fault = lambda number: fake.reset if number % 2 else None
    questions = probes.mixed(20, frozenset({Modality.TEXT}))

    def one(at: int) -> Raw | None:
        try:
            return judge.ask(questions[at])
        except JudgeError:
            return None

    answers = [one(at) for at in range(20)]
    assert sum(answer is None for answer in answers) == 10
    how.fault = lambda _: None
    assert all(found is None or found == judge.ask(questions[at]) for at, found in enumerate(answers))
