"""G6: how near a run keeps a judge to what its server can do.

The same questions two ways: through a session as a run has it (rendering, keys, ledger), and as ready bodies over the
bare connection, with as many under way at a time. Each way is warmed up, then they take turns, so that a server's own
cache serves both. Tokens are those that the server tells.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2
import numpy as np
import orjson

from evaluator.bench.board import Board
from evaluator.errors import EvaluatorError
from evaluator.judge.address import check_url
from evaluator.judge.client import HttpJudge, HttpOptions
from evaluator.judge.dialect import CHAT, chat_request
from evaluator.judge.exchange import as_object, check_response
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.transport import TROUBLE, ResponseTooLarge, http_client, read_body
from evaluator.judge.types import Backend, JudgeError, JudgeIdentity, Question, Raw, Status
from evaluator.media.decode import CollectTap, decode
from evaluator.media.probe import probe
from evaluator.metrics.prompt_following import FRAMES, VIEW, ask
from evaluator.runner.judging import COMMON, CONCURRENCY
from evaluator.schema import ALL_FRAMES, Case

ROUNDS = 3
SECONDS = 600.0
"""Longest wait for one answer over the bare connection."""


def meet(url: str) -> None:
    """Raises UsageError or JudgeUnusableError if no judge is at `url`: better before an hour's work than after it."""
    HttpJudge.connect(url).close()


def measure(board: Board, folder: Path, clips: Sequence[Path], url: str) -> None:
    """G6 of the judge at `url`. Raises UsageError or JudgeUnusableError without one, EvaluatorError if it fails."""
    asked = [question for clip in clips for question in questions(clip)]
    with closing(HttpJudge.connect(url, HttpOptions(concurrency=CONCURRENCY))) as judge:
        counted = _Counted(judge)
        with Ledger(folder / "judge.jsonl") as ledger:
            session = JudgeSession({COMMON: counted}, ledger, Mode.LIVE, concurrency=CONCURRENCY)
            with session, http_client(check_url(url), CONCURRENCY, SECONDS) as client:
                bodies = [_body(judge, question) for question in asked]
                ways = (lambda: _through(session, counted, asked), lambda: _bare(client, bodies))
                ours, bare = zip(*([_rate(way) for way in ways] for _ in range(ROUNDS + 1)), strict=True)
    if min(*ours, *bare) <= 0:
        board.put("G6", None, "the server does not tell how many tokens it read and wrote (`usage`)")
        return
    speed, most = statistics.median(ours[1:]), statistics.median(bare[1:])
    board.put(
        "G6", speed / most, f"{speed:.0f} of {most:.0f} tokens/s, {len(asked)} questions, {CONCURRENCY} at a time"
    )


def questions(clip: Path) -> Iterator[Question]:
    """As many different questions as a clip has spread-out groups of frames, no frame in two of them."""
    info, every = probe(clip), replace(VIEW, sampling=ALL_FRAMES)
    tap = CollectTap(info)
    decode(clip, info, [(every, tap)], [])
    frames = tap.close()
    step = len(frames.data) // FRAMES
    for first in range(step):
        rows = first + step * np.arange(FRAMES)
        group = replace(frames, data=frames.data[rows], index=frames.index[rows], time=frames.time[rows])
        case = Case(f"{clip.stem}-{first}", "core", clip, prompt=f"A pan over a texture, part {first + 1}.")
        yield from ask(case, group)


@dataclass(slots=True)
class _Counted:
    """A judge whose tokens are counted."""

    judge: Backend
    tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def identity(self) -> JudgeIdentity:
        return self.judge.identity

    def ask(self, question: Question) -> Raw:
        raw = self.judge.ask(question)
        with self._lock:
            self.tokens += _tokens(raw.usage)
        return raw

    def close(self) -> None:
        """It is closed by whoever opened it."""


def _tokens(usage: object) -> int:
    """Tokens read and written, of a response's `usage`."""
    told = usage if isinstance(usage, dict) else {}
    return sum(count for name in ("prompt_tokens", "completion_tokens") if isinstance(count := told.get(name), int))


def _rate(way: Callable[[], int]) -> float:
    """Tokens a second of one round."""
    start = time.perf_counter()
    tokens = way()
    return tokens / (time.perf_counter() - start)


def _through(session: JudgeSession, counted: _Counted, asked: Sequence[Question]) -> int:
    before = counted.tokens
    for answer in session.ask_all(asked):
        if answer.status is not Status.OK:
            raise EvaluatorError(
                f"the judge did not answer a question of the benchmark: {answer.status}: {answer.message}"
            )
    return counted.tokens - before


def _body(judge: HttpJudge, question: Question) -> bytes:
    try:
        ids = [judge.label_id(label) for label in question.labels]
    except JudgeError as error:
        raise EvaluatorError(f"the judge did not answer a question of the benchmark: {error}") from error
    return orjson.dumps(chat_request(question, judge.identity.model, ids))


def _bare(client: httpx2.Client, bodies: Sequence[bytes]) -> int:
    def post(body: bytes) -> int:
        try:
            with client.stream("POST", CHAT, content=body, headers={"content-type": "application/json"}) as response:
                answer = read_body(response)
            check_response(CHAT, response, answer)
            return _tokens(as_object(answer).get("usage"))
        except (*TROUBLE, ResponseTooLarge, JudgeError) as error:
            raise EvaluatorError(f"the judge's server did not answer a bare request: {error}") from error

    with ThreadPoolExecutor(CONCURRENCY) as threads:
        return sum(threads.map(post, bodies))
