"""Judges for tests of suites: what a metric makes of answers that are known, through the runner's own path."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import JudgeIdentity, Modality, Question, Raw
from evaluator.metrics.base import Metric, Outcome
from evaluator.runner.judging import Bench
from evaluator.runner.outcome import Absent, judge
from evaluator.runner.plan import Job
from evaluator.schema import Case
from tests.judge.fakes import FakeBackend

SEEING = JudgeIdentity("eyes", "ab" * 32, "fake 1")
HEARING = replace(SEEING, model="ears", modalities=frozenset(Modality))
Reply = Callable[[Question], Raw]


def label(question: Question, chosen: str, share: float = 1.0) -> Raw:
    """The one token, with nearly all of the probability (`share` of it: the rest is spread over the other labels)."""
    rest = max(1e-12, 1.0 - share) / max(1, len(question.labels) - 1)
    logs = {name: math.log(share - 1e-9 if name == chosen else rest) for name in question.labels}
    return Raw(chosen, "length", logs)


def written(value: Any) -> Raw:
    """A JSON answer."""
    return Raw(json.dumps(value), "stop")


def by_item(grades: Mapping[str, str]) -> Reply:
    """Labels by the last part of the item's name; `*` for all others."""
    return lambda question: label(question, grades.get(question.item.rsplit("/", 1)[-1], grades.get("*", "5")))


class Court:
    """A judge with a ledger in a folder. `asked` holds every question that it was put."""

    def __init__(self, folder: Path, reply: Reply, identity: JudgeIdentity = HEARING) -> None:
        self.asked: list[Question] = []
        self._reply = reply
        self._stack = ExitStack()
        ledger = self._stack.enter_context(Ledger(folder / "judge.jsonl"))
        backends = {"judge": FakeBackend(self._remember, identity)}
        self._session = self._stack.enter_context(JudgeSession(backends, ledger, Mode.CACHE, concurrency=1))
        self._bench = Bench(self._session, None, self._session.judges)
        self._heard: dict[str, Any] = {}

    def __enter__(self) -> Court:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _remember(self, question: Question) -> Raw:
        self.asked.append(question)
        return self._reply(question)

    def hear(self, metric: Metric, case: Case, **media: Any) -> Outcome | Absent:
        """What the metric makes of the judge's answers about these media."""
        job = Job(case, metric, {}, (), "")
        return judge(job, media, self._bench, self._heard.setdefault(case.id, {}))

    def value(self, metric: Metric, case: Case, **media: Any) -> float:
        """The value; the reason as an assertion if there is none."""
        found = self.hear(metric, case, **media)
        assert isinstance(found, Outcome), found
        return found.value
