"""A judged run: many questions in, as many answers out, in the same order, each one in the ledger.

    live     ask, always
    cache    ask only what the ledger does not answer
    replay   ask nobody: what the ledger does not answer is `judge_missing`

Questions are taken from their iterable as workers become free, so that a run with thousands of questions holds the
pictures of a few. Answers do not depend on the number of workers: each question is asked alone.
Knows back ends, the ledger, routing; not what answers are used for.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from datetime import UTC, datetime
from enum import StrEnum

from evaluator.errors import JudgeUnusableError
from evaluator.judge import route
from evaluator.judge.keys import Keys, Tree, blob_digests, blobs, keys, request
from evaluator.judge.ledger import Ledger
from evaluator.judge.parse import read
from evaluator.judge.record import Call, Opening
from evaluator.judge.retry import Breaker, FullJitter, patiently
from evaluator.judge.types import Answer, Backend, JudgeError, JudgeIdentity, Question, Raw, RetryPolicy, Status

_AHEAD = 2
"""Questions taken from the iterable per worker: one in work, one ready."""

_CLOSED = "the session was closed before this question was answered; the ledger holds what was"


class Mode(StrEnum):
    LIVE = "live"
    CACHE = "cache"
    REPLAY = "replay"


class JudgeSession:
    """Asks questions of the judges by name. Thread-safe. Use as a context manager; closes its back ends."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        ledger: Ledger,
        mode: Mode = Mode.CACHE,
        *,
        retry: RetryPolicy | None = None,
        concurrency: int = 8,
        patience: int = 20,
    ) -> None:
        """`concurrency` questions at a time per back end; `patience` failures in a row open its circuit breaker.

        In replay there are no back ends: the judges are those of the ledger's last run, and nothing is written.
        """
        self.mode, self.ledger = mode, ledger
        self.judges: Mapping[str, JudgeIdentity] = (
            ledger.judges if mode is Mode.REPLAY else {name: backend.identity for name, backend in backends.items()}
        )
        self.counts: Counter[str] = Counter()  # statuses, and `asked`, `replayed`, `retries`
        self._backends = backends
        self._retry = retry or FullJitter()
        self._workers = {name: ThreadPoolExecutor(concurrency, f"judge-{name}") for name in self.judges}
        self._breakers = {name: Breaker(patience) for name in self.judges}
        self._ahead = _AHEAD * concurrency * max(1, len(self.judges))
        self._stopped = threading.Event()
        self._lock = threading.Lock()
        self._asking: dict[str, Future[Answer]] = {}
        if mode is not Mode.REPLAY and [*ledger.judges.items()] != [*self.judges.items()]:
            ledger.append(Opening(self.judges, _now()))

    def __enter__(self) -> JudgeSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let running calls end, drop waiting ones, close the back ends. The ledger is its owner's."""
        self._stopped.set()
        for pool in self._workers.values():
            pool.shutdown(cancel_futures=True)
        for backend in self._backends.values():
            backend.close()

    def ask_all(self, questions: Iterable[Question], model: str = "") -> list[Answer]:
        """Answers in the order of the questions, of the judge that is `model` if one is named (`route.askable`).

        Raises JudgeUnusableError when a judge keeps failing.
        """
        return list(self.ask_each(questions, model))

    def ask_each(self, questions: Iterable[Question], model: str = "") -> Iterator[Answer]:
        """The same, one by one as they are ready; takes only a few questions ahead of what was given out."""
        waiting: deque[Future[Answer]] = deque()
        try:
            for question in questions:
                waiting.append(self._submit(question, model))
                if len(waiting) > self._ahead:
                    yield _taken(waiting.popleft())
            while waiting:
                yield _taken(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()

    # ------------------------------------------------------------------------------------------- one question

    def _submit(self, question: Question, model: str) -> Future[Answer]:
        self._check_open()
        judges = route.askable(self.judges, model)
        name = route.endpoint(question.modalities, judges)
        if name is not None:
            return self._workers[name].submit(self._answer, question, name)
        done: Future[Answer] = Future()
        done.set_result(self._counted(self._unheard(question, judges)))
        return done

    def _unheard(self, question: Question, judges: route.Judges) -> Answer:
        if self.mode is Mode.REPLAY and not self.judges:
            return Answer(Status.JUDGE_MISSING, "", message="the ledger holds no run")
        return Answer(Status.NOT_AVAILABLE, "", message=route.unavailable(question.modalities, judges))

    def _answer(self, question: Question, name: str) -> Answer:
        asked = request(question)
        digests = keys(asked, self.judges[name])
        match self.mode:
            case Mode.LIVE:
                answer = self._ask(question, name, asked, digests)
            case Mode.CACHE:
                answer = self._once(
                    digests.key,
                    lambda: self._recorded(digests.key) or self._ask(question, name, asked, digests),
                )
            case Mode.REPLAY:
                answer = self._recorded(digests.key) or self._missing(digests.key)
        return self._counted(answer)

    def _recorded(self, key: str) -> Answer | None:
        call = self.ledger.find(key)
        if call is not None:
            self._count(replayed=1)
        return call.answer if call else None

    def _missing(self, key: str) -> Answer:
        failure = self.ledger.failure(key)
        why = f"the ledger holds no answer, only a failure ({failure})" if failure else "the ledger holds no answer"
        return Answer(Status.JUDGE_MISSING, key, message=why)

    def _once(self, key: str, ask: Callable[[], Answer]) -> Answer:
        """What `ask` returns, unless another worker is asking the same right now: then what it gets."""
        with self._lock:
            if (running := self._asking.get(key)) is None:
                mine = self._asking[key] = Future[Answer]()
        if running is not None:
            return running.result()
        try:
            mine.set_result(ask())
        except BaseException as error:
            mine.set_exception(error)
        finally:
            with self._lock:
                del self._asking[key]
        return mine.result()

    def _ask(self, question: Question, name: str, asked: Tree, digests: Keys) -> Answer:
        """Put the question to the judge, write down what came of it, and only then return it."""
        self._check_open()
        self._breakers[name].check()
        start, tries = time.monotonic(), _Tries(self._backends[name], question)
        raw, answer = self._reply(tries, digests.key)
        self._count(asked=1, retries=tries.count - 1)
        call = Call(
            endpoint=name,
            judge=self.judges[name],
            item=question.item,
            task=question.task,
            protocol_deviation=question.protocol_deviation,
            keys=digests,
            request=asked,
            raw=raw,
            status=answer.status,
            message=answer.message,
            attempts=tries.count,
            ms=round(1000 * (time.monotonic() - start)),
            time=_now(),
        )
        self.ledger.append(call, zip((digest for digest, _ in blob_digests(asked)), blobs(question), strict=True))
        if raw is None:
            self._breakers[name].failed(answer.message)
        else:
            self._breakers[name].succeeded()
        return answer

    def _reply(self, tries: _Tries, key: str) -> tuple[Raw | None, Answer]:
        """(what the back end returned, what it means), or (None, why it returned nothing)."""
        try:
            raw = patiently(tries, key, self._retry, self._pause)
        except JudgeError as error:
            return None, Answer(error.status, key, message=str(error))
        return raw, read(tries.question.labels, tries.question.answer_schema, raw, key)

    def _pause(self, seconds: float) -> None:
        self._stopped.wait(seconds)
        self._check_open()

    def _check_open(self) -> None:
        if self._stopped.is_set():
            raise JudgeUnusableError(_CLOSED)

    def _counted(self, answer: Answer) -> Answer:
        self._count(**{answer.status: 1})
        return answer

    def _count(self, **more: int) -> None:
        with self._lock:
            self.counts.update(more)


class _Tries:
    """Asks one question of one back end and counts how often."""

    def __init__(self, backend: Backend, question: Question) -> None:
        self.backend, self.question, self.count = backend, question, 0

    def __call__(self) -> Raw:
        self.count += 1
        return self.backend.ask(self.question)


def _taken(future: Future[Answer]) -> Answer:
    try:
        return future.result()
    except CancelledError as error:
        raise JudgeUnusableError(_CLOSED) from error


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
