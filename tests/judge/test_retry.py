"""Waiting is seeded, bounded and polite; only what can pass by itself is asked again; a dead judge stops the run."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.errors import EXIT_PREREQUISITE, JudgeUnusableError
from evaluator.judge.retry import Breaker, FullJitter, patiently
from evaluator.judge.types import JudgeError, Status

TRANSIENT = JudgeError(Status.TRANSIENT, "reset")


def failing(times: int, error: JudgeError = TRANSIENT) -> Callable[[], str]:
    left = iter([error] * times)

    def ask() -> str:
        for this in left:
            raise this
        return "Yes"

    return ask


@given(st.text(), st.integers(1, 4))
def test_a_wait_follows_from_key_and_try_and_is_bounded(key: str, attempt: int) -> None:
    policy = FullJitter()
    wait = policy.delay(key, attempt, TRANSIENT)
    assert wait is not None
    assert wait == FullJitter().delay(key, attempt, TRANSIENT)
    assert 0 <= wait <= 0.25 * 2 ** (attempt - 1)


def test_waits_are_spread_over_the_whole_range() -> None:
    waits = [FullJitter().delay(str(key), 3, TRANSIENT) or 0.0 for key in range(500)]
    assert min(waits) < 0.05
    assert max(waits) > 0.95
    assert 0.45 < sum(waits) / len(waits) < 0.55


def test_late_waits_stop_growing() -> None:
    waits = [FullJitter(attempts=99).delay(str(key), 50, TRANSIENT) or 0.0 for key in range(200)]
    assert 25 < max(waits) <= 30


def test_what_the_server_asks_for_is_waited_but_not_forever() -> None:
    policy = FullJitter(patience_s=60)
    assert policy.delay("k", 1, JudgeError(Status.TRANSIENT, "", retry_after=7)) == 7
    assert policy.delay("k", 1, JudgeError(Status.TRANSIENT, "", retry_after=86400)) == 60


def test_transient_errors_are_asked_again_until_an_answer_comes() -> None:
    slept: list[float] = []
    assert patiently(failing(4), "k", FullJitter(), slept.append) == "Yes"
    assert slept == [FullJitter().delay("k", attempt, TRANSIENT) for attempt in (1, 2, 3, 4)]


def test_tries_run_out() -> None:
    slept: list[float] = []
    with pytest.raises(JudgeError, match="reset"):
        patiently(failing(5), "k", FullJitter(), slept.append)
    assert len(slept) == 4


@pytest.mark.parametrize("status", [status for status in Status if status is not Status.TRANSIENT])
def test_nothing_else_is_asked_again(status: Status) -> None:
    slept: list[float] = []
    with pytest.raises(JudgeError):
        patiently(failing(1, JudgeError(status, "")), "k", FullJitter(), slept.append)
    assert not slept


def test_a_breaker_opens_after_failures_in_a_row_only_and_stays_open() -> None:
    breaker = Breaker(limit=3)
    for _ in range(5):
        breaker.failed("one")
        breaker.failed("two")
        breaker.succeeded()
    breaker.check()
    for why in ("one", "two", "HTTP 500"):
        breaker.failed(why)
    breaker.succeeded()
    with pytest.raises(JudgeUnusableError, match=r"3 questions in a row.*HTTP 500.*ledger") as error:
        breaker.check()
    assert error.value.exit_code == EXIT_PREREQUISITE


def test_a_breaker_counts_for_all_threads() -> None:
    breaker = Breaker(limit=400)
    threads = [threading.Thread(target=lambda: [breaker.failed("x") for _ in range(100)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert all(thread.join() is None for thread in threads)
    assert breaker.open
