"""When to ask again, how long to wait, and when to give up on a judge altogether.

Only `transient` errors are asked again: the same question to the same model at temperature 0 gets the same answer, so
that repeating anything else is waste. Waits are full jitter, seeded by the question's key: a repeated run waits alike.
Knows nothing about HTTP.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from evaluator.errors import JudgeUnusableError
from evaluator.judge.types import JudgeError, RetryPolicy, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FullJitter:
    """A `RetryPolicy`: after failed try n wait U(0, min(cap, base * 2^(n-1))) seconds, at least what the server asked.

    Source of the rule: "Exponential Backoff And Jitter" (AWS Architecture Blog, 2015). What a server asks for is its
    word, not an order: more than `patience_s` is not waited.
    """

    attempts: int = 5
    base_s: float = 0.25
    cap_s: float = 30.0
    patience_s: float = 60.0

    def delay(self, key: str, attempt: int, error: JudgeError) -> float | None:
        """Seconds to wait after failed try `attempt` (from 1) of the question `key`; None to give up."""
        if error.status is not Status.TRANSIENT or attempt >= self.attempts:
            return None
        longest = min(self.cap_s, self.base_s * 2 ** (attempt - 1))
        jitter = Random(f"{key}:{attempt}").uniform(0.0, longest)  # noqa: S311  (spreads load)
        return max(jitter, min(error.retry_after or 0.0, self.patience_s))


def patiently(ask: Callable[[], T], key: str, policy: RetryPolicy, sleep: Callable[[float], object] = time.sleep) -> T:
    """What `ask` returns, asked again as the policy says. Raises the last JudgeError when the policy gives up."""
    attempt = 1
    while True:
        try:
            return ask()
        except JudgeError as error:
            wait = policy.delay(key, attempt, error)
            if wait is None:
                raise
            sleep(wait)
            attempt += 1


class Breaker:
    """Stops a run after `limit` failed questions in a row instead of letting every one of thousands fail. Thread-safe.

    A question has failed when its retries are used up or the server refused it; an answer that cannot be parsed is an
    answer. Once open, a breaker stays open: the ledger holds what was answered, and the same command goes on from it.
    """

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._failures = 0
        self._last = ""

    @property
    def open(self) -> bool:
        """True when nothing should be asked any more."""
        return self._failures >= self.limit

    def check(self) -> None:
        """Call before asking. Raises JudgeUnusableError when the breaker is open."""
        if self.open:
            raise JudgeUnusableError(
                f"the judge failed {self.limit} questions in a row, the last one with: {self._last}. Answers so far "
                f"are in the ledger; mend the judge and run the same command to go on."
            )

    def succeeded(self) -> None:
        """An answer came back."""
        with self._lock:
            if not self.open:
                self._failures = 0

    def failed(self, why: object) -> None:
        """A question got no answer."""
        with self._lock:
            if not self.open:
                self._failures += 1
                self._last = str(why)
