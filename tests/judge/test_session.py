"""Many questions, one answer each, in order; what is asked again and what never is."""

from __future__ import annotations

import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import JudgeUnusableError
from evaluator.judge.audit import verify
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Answer, AudioPart, JudgeError, JudgeIdentity, Modality, Question, Raw, Status
from tests.judge.fakes import FakeBackend, NoWait, ask, ask_json, clip, honest, picture, yes_no

QUESTIONS = [ask(f"Is it {index}?", evidence=(picture(bytes([index])),)) for index in range(24)]


@contextmanager
def session(folder: Path, backend: FakeBackend | None = None, mode: Mode = Mode.CACHE, **settings: Any) -> Iterator[JudgeSession]:  # fmt: skip # noqa: E501
    backends = {} if mode is Mode.REPLAY else {"vision": backend or FakeBackend()}
    with (
        Ledger(folder / "judge.jsonl", writable=mode is not Mode.REPLAY) as ledger,
        JudgeSession(backends, ledger, mode, retry=NoWait(), **settings) as opened,
    ):
        yield opened


def answers(folder: Path, *rest: Any, questions: list[Question] = QUESTIONS, **settings: Any) -> list[Answer]:
    with session(folder, *rest, **settings) as opened:
        return opened.ask_all(questions)


def failing(status: Status, message: str = "broken") -> Callable[[Question], Raw]:
    def reply(question: Question) -> Raw:
        raise JudgeError(status, message)

    return reply


# ------------------------------------------------------------------------------------------------ order and workers


def test_answers_come_in_the_order_of_the_questions_whatever_finishes_first(tmp_path: Path) -> None:
    def slow(question: Question) -> Raw:
        time.sleep(0.02 if "0?" in question.item or "3?" in question.item else 0)
        return honest(question)

    one = answers(tmp_path / "1", FakeBackend(), concurrency=1)
    many = answers(tmp_path / "8", FakeBackend(slow), concurrency=8)
    assert one == many
    assert [answer.status for answer in one] == [Status.OK] * 24
    assert len({answer.key for answer in one}) == 24


def test_no_more_questions_at_a_time_than_asked_for(tmp_path: Path) -> None:
    backend = FakeBackend(lambda question: (time.sleep(0.005), honest(question))[1])
    answers(tmp_path, backend, concurrency=3)
    assert backend.most == 3


def test_several_threads_may_ask_at_once(tmp_path: Path) -> None:
    found: dict[int, list[Answer]] = {}
    with session(tmp_path) as opened:
        threads = [
            threading.Thread(target=lambda at=at: found.__setitem__(at, opened.ask_all(QUESTIONS[at::3])))
            for at in range(3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [found[at % 3][at // 3] for at in range(24)] == answers(tmp_path, mode=Mode.REPLAY)


def test_memory_stays_bounded_with_2000_questions(tmp_path: Path) -> None:
    """2,000 questions with 64 KB of frames each are 128 MB; a session holds those of a few."""

    def questions() -> Iterator[Question]:
        for index in range(2000):
            frame = index.to_bytes(4, "big") * 8192
            yield ask(f"Is it {index}?", evidence=(clip(frame, frame[::-1]),))

    with (
        Ledger(tmp_path / "judge.jsonl", keep_media=False) as ledger,
        JudgeSession({"vision": FakeBackend()}, ledger, retry=NoWait(), concurrency=8) as opened,
    ):
        tracemalloc.start()
        try:
            found = opened.ask_all(questions())
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert sum(answer.status is Status.OK for answer in found) == 2000
    assert peak < 12_000_000
    assert ledger.count == 2001


def test_questions_are_taken_as_workers_become_free(tmp_path: Path) -> None:
    taken: list[int] = []

    def questions() -> Iterator[Question]:
        for index, question in enumerate(QUESTIONS):
            taken.append(index)
            yield question

    with session(tmp_path, concurrency=2) as opened:
        stream = opened.ask_each(questions())
        next(stream)
        assert len(taken) <= 6
        stream.close()
        assert len(taken) <= 6


# ----------------------------------------------------------------------------------- modes: live, cache and replay


def test_cache_asks_only_what_is_new_and_live_asks_always(tmp_path: Path) -> None:
    backend = FakeBackend()
    first = answers(tmp_path, backend, questions=QUESTIONS[:10])
    whole = answers(tmp_path, backend)
    assert whole[:10] == first
    assert set(backend.asked.values()) == {1}
    answers(tmp_path, backend, Mode.LIVE)
    assert set(backend.asked.values()) == {2}


def test_a_run_that_is_all_cached_succeeds_and_asks_nobody(tmp_path: Path) -> None:
    first = answers(tmp_path)
    deaf = FakeBackend(failing(Status.ERROR))
    assert answers(tmp_path, deaf) == first
    assert not deaf.asked


def test_replay_needs_no_back_end_and_writes_nothing(tmp_path: Path) -> None:
    first = answers(tmp_path)
    before = (tmp_path / "judge.jsonl").read_bytes()
    with session(tmp_path, mode=Mode.REPLAY) as opened:
        assert opened.ask_all(QUESTIONS) == first
        assert opened.counts == {"ok": 24, "replayed": 24}
    assert (tmp_path / "judge.jsonl").read_bytes() == before


def test_what_a_replay_lacks_is_judge_missing_and_no_number(tmp_path: Path) -> None:
    answers(tmp_path, questions=QUESTIONS[:1])
    found = answers(tmp_path, mode=Mode.REPLAY, questions=QUESTIONS[:2])
    assert [answer.status for answer in found] == [Status.OK, Status.JUDGE_MISSING]
    assert (found[1].label, found[1].value, found[1].probabilities) == (None, None, {})


def test_a_replay_says_that_there_was_a_failure(tmp_path: Path) -> None:
    answers(tmp_path, FakeBackend(failing(Status.REFUSED)), questions=QUESTIONS[:1])
    (found,) = answers(tmp_path, mode=Mode.REPLAY, questions=QUESTIONS[:1])
    assert found.status is Status.JUDGE_MISSING
    assert "refused" in found.message


def test_a_replay_of_an_empty_ledger_lacks_everything(tmp_path: Path) -> None:
    Ledger(tmp_path / "judge.jsonl").close()
    (found,) = answers(tmp_path, mode=Mode.REPLAY, questions=QUESTIONS[:1])
    assert found.status is Status.JUDGE_MISSING


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = answers(tmp_path / "whole")
    backend = FakeBackend()
    with session(tmp_path / "killed", backend, concurrency=1) as opened:
        stream = opened.ask_each(QUESTIONS)
        for _ in range(7):
            next(stream)
        stream.close()
    done = sum(backend.asked.values())
    assert 7 <= done < 24
    assert answers(tmp_path / "killed", backend) == whole
    assert set(backend.asked.values()) == {1}


# --------------------------------------------------------------------- what hurt the users of other caches (ledger)


def test_another_model_under_the_same_name_is_asked_again(tmp_path: Path) -> None:
    """lm-evaluation-harness: model A's answers were reported as B's. ClawBench: old verdicts under a new judge."""
    first = answers(tmp_path)
    other = FakeBackend(lambda _: yes_no(0.99), replace(FakeBackend().identity, model_sha256="cd" * 32))
    second = answers(tmp_path, other)
    assert len(other.asked) == 24
    assert {answer.label for answer in second} == {"Yes"} != {answer.label for answer in first}
    assert answers(tmp_path) == first
    assert answers(tmp_path, mode=Mode.REPLAY) == first, "a replay is of the judge of the last run"


def test_changed_pictures_under_the_same_item_are_asked_again(tmp_path: Path) -> None:
    """lmms-eval: pictures only through the document id. mlx-vlm, QwenPaw: the path as key, another picture's answer."""
    answers(tmp_path)
    backend = FakeBackend()
    answers(tmp_path, backend, questions=[ask("Is it 0?", QUESTIONS[0].item, evidence=(picture(b"new"),))])
    assert backend.asked == {QUESTIONS[0].item: 1}


def test_the_same_question_of_another_case_is_not_asked_again(tmp_path: Path) -> None:
    """inspect_ai: the address, the epoch and an expiry date in the key; everything missed after a move."""
    first = answers(tmp_path)
    backend = FakeBackend()
    renamed = [replace(question, item=f"other/{index}") for index, question in enumerate(QUESTIONS)]
    assert answers(tmp_path, backend, questions=renamed) == first
    assert not backend.asked


@pytest.mark.parametrize(
    "bad",
    [
        Raw("Maybe", "length", yes_no(0.9).label_logprobs),
        Raw("", "refusal"),
        Raw("Yes", "length"),
        Raw("Yes", "length", {"Yes": 1.0, "No": 1.0}),
    ],
    ids=["other word", "refusal", "no probabilities", "no distribution"],
)
def test_a_bad_answer_is_no_score_and_is_not_kept_for_good(tmp_path: Path, bad: Raw) -> None:
    """dspy, MailFathom: bad answers cached for ever. openai/evals, NeMo Evaluator: failure is 0. shodh: option 0."""
    (first,) = answers(tmp_path, FakeBackend(lambda _: bad), questions=QUESTIONS[:1])
    assert first.status in {Status.UNPARSED, Status.REFUSED}
    assert (first.label, first.value, first.margin, first.probabilities) == (None, None, None, {})
    (second,) = answers(tmp_path, questions=QUESTIONS[:1])
    assert second.status is Status.OK


def test_text_answers_are_behind_the_ledger_too(tmp_path: Path) -> None:
    """lmms-eval, inspect_ai: the judge's own calls were not cached."""
    backend = FakeBackend()
    first = answers(tmp_path, backend, questions=[ask_json()])
    assert answers(tmp_path, backend, questions=[ask_json()]) == first
    assert first[0].value == {"observation": "seen", "answer": "Yes"}
    assert backend.asked.total() == 1


def test_samples_are_not_one_cached_answer_many_times(tmp_path: Path) -> None:
    """lmms-eval caches at temperature 0 only; inspect_ai needs the epoch in its key."""
    backend = FakeBackend()
    found = answers(tmp_path, backend, questions=[replace(QUESTIONS[0], sample=index) for index in range(5)])
    assert backend.asked.total() == 5
    assert len({answer.key for answer in found}) == 5


def test_without_a_judge_nothing_is_made_up(tmp_path: Path) -> None:
    """VLMEvalKit: a missing judge key fell back silently to exact match."""
    with Ledger(tmp_path / "judge.jsonl") as ledger, JudgeSession({}, ledger) as opened:
        (found,) = opened.ask_all(QUESTIONS[:1])
    assert found == Answer(Status.NOT_AVAILABLE, "", message="no judge was given")


def test_a_question_that_nobody_hears_is_not_available(tmp_path: Path) -> None:
    backend = FakeBackend()
    (found,) = answers(tmp_path, backend, questions=[ask(evidence=(AudioPart(b"RIFF"),))])
    assert found.status is Status.NOT_AVAILABLE
    assert "audio" in found.message
    assert not backend.asked


def test_each_question_goes_to_the_endpoint_that_perceives_it(tmp_path: Path) -> None:
    vision = FakeBackend()
    hears = JudgeIdentity("audio", "ef" * 32, "fake", modalities=frozenset({Modality.TEXT, Modality.AUDIO}))
    audio = FakeBackend(identity=hears)
    questions = [QUESTIONS[0], ask("Is it loud?", evidence=(AudioPart(b"RIFF"),))]
    with Ledger(tmp_path / "judge.jsonl") as ledger:
        with JudgeSession({"vision": vision, "audio": audio}, ledger) as opened:
            found = opened.ask_all(questions)
        with JudgeSession({}, ledger, Mode.REPLAY) as opened:
            assert opened.ask_all(questions) == found
    assert (vision.asked, audio.asked) == ({questions[0].item: 1}, {questions[1].item: 1})
    assert vision.closed
    assert audio.closed


def test_equal_questions_at_the_same_time_are_one_call(tmp_path: Path) -> None:
    backend = FakeBackend(lambda question: (time.sleep(0.02), honest(question))[1])
    same = [replace(QUESTIONS[0], item=f"case {index}") for index in range(16)]
    found = answers(tmp_path, backend, questions=same)
    assert backend.asked.total() == 1
    assert set(map(repr, found)) == {repr(found[0])}


# ---------------------------------------------------------------------------------------------------------- failures


def test_transport_trouble_is_asked_again_and_changes_no_answer(tmp_path: Path) -> None:
    calm = answers(tmp_path / "calm")
    seen: set[str] = set()

    def stormy(question: Question) -> Raw:
        if question.item not in seen:
            seen.add(question.item)
            raise JudgeError(Status.TRANSIENT, "connection reset", retry_after=0.0)
        return honest(question)

    with session(tmp_path / "storm", FakeBackend(stormy)) as opened:
        assert opened.ask_all(QUESTIONS) == calm
        assert opened.counts == {"ok": 24, "asked": 24, "retries": 24}


def test_one_failure_takes_no_other_answer_with_it(tmp_path: Path) -> None:
    def picky(question: Question) -> Raw:
        if question.item == QUESTIONS[5].item:
            raise JudgeError(Status.ERROR, "400 picture cannot be decoded")
        return honest(question)

    backend = FakeBackend(picky)
    found = answers(tmp_path, backend)
    assert [answer.status for answer in found].count(Status.OK) == 23
    assert found[5] == Answer(Status.ERROR, found[5].key, message="400 picture cannot be decoded")
    assert backend.asked[QUESTIONS[5].item] == 1, "what a server refuses is not asked again"


def test_trouble_that_outlasts_the_retries_is_recorded_and_asked_in_the_next_run(tmp_path: Path) -> None:
    backend = FakeBackend(failing(Status.TRANSIENT, "reset"))
    found = answers(tmp_path, backend, questions=QUESTIONS[:3])
    assert {(answer.status, answer.message) for answer in found} == {(Status.TRANSIENT, "reset")}
    assert set(backend.asked.values()) == {3}
    assert verify(tmp_path / "judge.jsonl").statuses == {"transient": 3}
    assert {answer.status for answer in answers(tmp_path, questions=QUESTIONS[:3])} == {Status.OK}


def test_a_judge_that_keeps_failing_stops_the_run_and_the_ledger_can_go_on(tmp_path: Path) -> None:
    backend = FakeBackend(
        lambda question: honest(question) if "Is it 0?" in question.item else failing(Status.ERROR)(question)
    )
    with pytest.raises(JudgeUnusableError, match="5 questions in a row"):
        answers(tmp_path, backend, concurrency=1, patience=5)
    assert backend.asked.total() == 6
    assert answers(tmp_path, FakeBackend()) == answers(tmp_path / "calm")


def test_a_mistake_in_a_back_end_is_not_swallowed(tmp_path: Path) -> None:
    def broken(question: Question) -> Raw:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        answers(tmp_path, FakeBackend(broken))


def test_closing_ends_a_wait_for_the_next_try(tmp_path: Path) -> None:
    class Patient:
        def delay(self, key: str, attempt: int, error: JudgeError) -> float | None:
            return 60.0

    asked = threading.Event()

    def reply(question: Question) -> Raw:
        asked.set()
        raise JudgeError(Status.TRANSIENT, "busy")

    start = time.monotonic()
    with Ledger(tmp_path / "judge.jsonl") as ledger:
        opened = JudgeSession({"vision": FakeBackend(reply)}, ledger, retry=Patient())

        def ask_and_be_stopped() -> None:
            with pytest.raises(JudgeUnusableError):
                opened.ask_all(QUESTIONS[:1])

        stream = threading.Thread(target=ask_and_be_stopped)
        stream.start()
        assert asked.wait(10)
        opened.close()
        stream.join(10)
    assert time.monotonic() - start < 10


def test_closing_drops_what_was_not_asked_and_says_so(tmp_path: Path) -> None:
    started, go = threading.Event(), threading.Event()

    def reply(question: Question) -> Raw:
        started.set()
        go.wait(10)
        return honest(question)

    seen: list[str] = []

    def ask_and_be_stopped() -> None:
        try:
            opened.ask_all(QUESTIONS)
        except JudgeUnusableError as error:
            seen.append(str(error))

    backend = FakeBackend(reply)
    with Ledger(tmp_path / "judge.jsonl") as ledger:
        opened = JudgeSession({"vision": backend}, ledger, concurrency=1)
        stream = threading.Thread(target=ask_and_be_stopped)
        stream.start()
        assert started.wait(10)
        closing = threading.Thread(target=opened.close)
        closing.start()
        assert opened._stopped.wait(10)
        go.set()
        closing.join(10)
        stream.join(10)
        assert len(seen) == 1
        assert "closed" in seen[0]
        assert backend.asked.total() < 24
        with pytest.raises(JudgeUnusableError, match="closed"):
            opened.ask_all(QUESTIONS[:1])
